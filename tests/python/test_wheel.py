"""The wheel, installed into a fresh environment as a user would, and used from there. Then the notebook of the examples, executed
with Jupyter in that environment's package."""

import os
import subprocess
import unittest
from pathlib import Path

import site_of_a_test as site


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = site.enter()
        cls.addClassCleanup(site.leave, cls.folder)
        os.environ["IPYTHONDIR"] = str(cls.folder / "ipython")  # nothing is left in the user's home
        os.environ["JUPYTER_RUNTIME_DIR"] = str(cls.folder / "jupyter")
        packages = cls.folder / "packages"
        subprocess.run([str(site.SOURCE / "scripts" / "package"), "wheel"], check=True, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, DTCTL_PACKAGES=str(packages)))
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", "venv"], check=True)
        cls.python = str(cls.folder / "venv" / "bin" / "python")
        wheel = next(packages.glob("dtctl-*-py3-none-any.whl"))
        subprocess.run([cls.python, "-m", "pip", "install", "--quiet", "--no-index", str(wheel)], check=True)

    def test_the_installed_package_submits_and_reads_a_study(self):
        code = (f"import dtctl, pathlib\nstudy = dtctl.home().submit({dict(site.TINY, study={'mode': 'strong', 'ranks': [1, 2]})!r}, wait=True)\n"
                "print(pathlib.Path(dtctl.__file__).parent, study.states(), len(study.runs()))\n"
                "print(study.points().attrs['units']['throughput'])")
        done = subprocess.run([self.python, "-W", "ignore", "-c", code], stdout=subprocess.PIPE, text=True, check=True)
        self.assertIn(str(self.folder / "venv"), done.stdout)
        self.assertIn("{'succeeded': 2} 2\nsamples/s", done.stdout)

    def test_the_types_of_the_installed_package_are_found(self):
        Path("use.py").write_text("import dtctl\nx: int = dtctl.home().study(3).verdict()\n")
        done = subprocess.run(["/usr/bin/mypy", "--cache-dir=/dev/null", "--python-executable", self.python, "use.py"],
                              stdout=subprocess.PIPE, text=True, check=False)
        self.assertIn('Argument 1 to "study" of "Home" has incompatible type "int"', done.stdout)
        self.assertIn('expression has type "Verdict"', done.stdout)

    def test_the_notebook_runs_from_its_first_cell_to_its_last(self):
        import nbclient
        import nbformat
        from jupyter_client.kernelspec import KernelSpec
        from jupyter_client.manager import AsyncKernelManager

        class Kernel(AsyncKernelManager):  # ipykernel of the fresh environment; nothing is registered for the user
            @property
            def kernel_spec(kernel):
                return KernelSpec(argv=[self.python, "-m", "ipykernel_launcher", "-f", "{connection_file}"], language="python")

        notebook = nbformat.read(site.SOURCE / "python" / "examples" / "first-study.ipynb", as_version=4)
        client = nbclient.NotebookClient(notebook, timeout=300, kernel_manager_class=Kernel)
        client.execute()
        shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
        kinds = {kind for output in shown for kind in output.get("data", {})}
        self.assertTrue({"text/html", "image/png"} <= kinds, kinds)
        html = "".join(output["data"]["text/html"] for output in shown if "text/html" in output.get("data", {}))
        self.assertIn("<b>2 ranks: ", html)
        self.assertFalse([output for output in shown if output.output_type == "error"])

    def test_the_notebook_is_kept_without_outputs(self):
        import nbformat

        notebook = nbformat.read(site.SOURCE / "python" / "examples" / "first-study.ipynb", as_version=4)
        nbformat.validate(notebook)
        for cell in notebook.cells:
            self.assertEqual(cell.get("outputs", []), [])


if __name__ == "__main__":
    unittest.main()
