"""Which public programs are run, with which arguments and data, and which of their lines a stop-watch looks at.

A mark is (beginning of a line, phase[, loss, samples]): the phase begins with that line; the loss and the samples are expressions of
the program's own variables. "!" before the phase: what was updated before is a step of its own. Lines without a mark go on with the
phase before; a function that returns is in "other", or in the phase of the mark ("return", phase).
"""

import dataclasses

from programs import data

EXAMPLES = ("pytorch/examples", "77f55b912142e11fcfdf5b530231fb9c52f181e8")
EXAMPLES_2022 = ("pytorch/examples", "244e4eefb199f5e74e11d15c1b1c3186ccd2d313")  # of the time of torch 1.13
GAN = ("eriklindernoren/PyTorch-GAN", "36d3c77e5ff20ebe0aeefd322326a134a279b93e")
MINGPT = ("karpathy/minGPT", "37baab71b9abea1b76ab957409a1cc2fbfba8a26")
NANOGPT = ("karpathy/nanoGPT", "3adf61e154c3fe3fca428ad6bc3818b27a3b8291")
TEMPLATE = ("victoresque/pytorch-template", "41dc06f6f8f3f38c6ed49f01ff7d89cd5688adc4")
TUTORIAL = ("yunjey/pytorch-tutorial", "0500d3df5a2a8080ccfccbc00aca0eacc21818db")
TRAINING_OPERATOR = ("kubeflow/training-operator", "25b8a5b57b3d7a0974c2ccd9ffbd03bca85698c0")


@dataclasses.dataclass
class Program:
    name: str
    kind: str
    clone: tuple  # repository, commit
    folder: str  # of the program in its repository, in which it runs
    words: list  # after python3
    data: list  # functions that make it, given the folder of the program
    marks: dict  # file -> function -> marks
    steps: object  # what the arguments and the data come to; None: chance decides
    samples: object
    ranks: int = 1
    note: str = ""  # how it is started
    is_closure: bool = False  # optimizer.step(closure)
    taken: tuple = ()  # folders of the repository, beside that of the program
    path: str = ""  # of its modules in the repository
    env: tuple = ()  # options of `env` in front of the program


def mnist(place="../data/MNIST/raw", train=1000, test=200):
    return lambda folder: data.mnist(folder / place, train, test)


def usual(loop, forward, samples, *more):
    """Marks of the loop that most programs have."""
    return [(loop, "!input"), ("optimizer.zero_grad", "clear"), (forward, "forward"), ("loss.backward", "backward", "loss", samples),
            ("optimizer.step", "update"), *more]


def of_examples(folder, words, clone=EXAMPLES, **more):
    marks = {"main.py": {"train": [*usual("for batch_idx", more.pop("forward", "output = model"), more.pop("count", "data.size(0)"), ("if batch_idx %", "other"))],
                         "main": [("test(", "evaluation"), ("scheduler.step", "other")]}}
    return dict(clone=clone, folder=folder, words=["main.py", *words], marks=marks, **more)


PROGRAMS = [
    Program("mnist", "vision", data=[mnist()], steps=32, samples=2000,
            **of_examples("mnist", ["--no-accel", "--epochs", "2", "--batch-size", "64", "--test-batch-size", "100"])),
    Program("mnist_rnn", "recurrent", data=[mnist()], steps=32, samples=2000,
            **of_examples("mnist_rnn", ["--epochs", "2", "--batch-size", "64", "--test-batch-size", "100"])),
    Program("siamese_network", "pairs of images, ResNet-18", data=[mnist(train=320, test=100)], steps=10, samples=320,
            **of_examples("siamese_network", ["--epochs", "1", "--batch-size", "32", "--test-batch-size", "50"], EXAMPLES_2022, forward="outputs = model",
                          count="images_1.size(0)")),
    Program("vae", "VAE", EXAMPLES, "vae", ["main.py", "--no-accel", "--epochs", "2", "--batch-size", "100"],
            [mnist()],
            {"main.py": {"train": usual("for batch_idx", "recon_batch, mu", "data.size(0)", ("train_loss +=", "other"), ("if batch_idx %", "other")),
                         "<module>": [("test(epoch)", "evaluation"), ("with torch.no_grad", "other")]}}, 20, 2000),
    Program("dcgan", "GAN, two optimizers", EXAMPLES, "dcgan",
            ["main.py", "--dataset", "fake", "--niter", "1", "--ngf", "8", "--ndf", "8", "--batchSize", "50", "--workers", "1", "--manualSeed", "1"], [],
            {"main.py": {"<module>": [("for i, data", "!input"), ("netD.zero_grad", "other"), ("output = netD", "forward"), ("fake = netG(noise", "forward"),
                                      ("fake = netG(fixed", "other"),
                                      ("errD_real.backward", "backward", "errD_real", "real_cpu.size(0)"), ("D_x =", "other"), ("errD_fake.backward", "backward", "errD_fake"),
                                      ("D_G_z1", "other"), ("optimizerD.step", "update"), ("netG.zero_grad", "other"), ("errG.backward", "backward", "errG"), ("D_G_z2", "other"),
                                      ("optimizerG.step", "update"), ("print('[%d/%d][", "other"), ("torch.save(netG", "!other")]}}, 20, 1000),
    Program("wgan_gp", "GAN, an optimizer in every fifth step", GAN, "implementations/wgan_gp", ["wgan_gp.py", "--n_epochs", "1", "--batch_size", "50"],
            [mnist("../../data/mnist/MNIST/raw")],
            {"wgan_gp.py": {"<module>": [("for i, (imgs", "!input"), ("optimizer_D.zero_grad", "clear"), ("z = Variable", "other"), ("fake_imgs = generator", "forward"),
                                         ("d_loss.backward", "backward", "d_loss", "imgs.size(0)"), ("optimizer_D.step", "update"), ("optimizer_G.zero_grad", "clear"),
                                         ("if i % opt.n_critic", "other"), ("g_loss.backward", "backward", "g_loss"), ("optimizer_G.step", "update"), ("print(", "other")]}}, 20, 1000),
    Program("infogan", "GAN, three optimizers", GAN, "implementations/infogan", ["infogan.py", "--n_epochs", "1", "--batch_size", "10"],
            [mnist("../../data/mnist/MNIST/raw", train=200)],
            {"infogan.py": {"<module>": [("for i, (imgs", "!input"), ("optimizer_G.zero_grad", "clear"), ("z = Variable", "other"), ("gen_imgs = generator", "forward"),
                                         ("g_loss.backward", "backward", "g_loss", "imgs.size(0)"), ("optimizer_G.step", "update"), ("optimizer_D.zero_grad", "clear"),
                                         ("real_pred, _, _", "forward"), ("d_loss.backward", "backward", "d_loss"), ("optimizer_D.step", "update"),
                                         ("optimizer_info.zero_grad", "clear"), ("sampled_labels", "other"), ("info_loss.backward", "backward", "info_loss"),
                                         ("optimizer_info.step", "update"), ("print(", "other")]}}, 20, 200),
    Program("super_resolution", "images to images", EXAMPLES, "super_resolution",
            ["main.py", "--upscale_factor", "4", "--batchSize", "4", "--testBatchSize", "4", "--nEpochs", "2", "--threads", "0"],
            [lambda folder: data.images(folder / "dataset/BSDS300/images/train", 40, 260), lambda folder: data.images(folder / "dataset/BSDS300/images/test", 8, 260)],
            {"main.py": {"train": [("for iteration", "!input"), ("optimizer.zero_grad", "clear"), ("loss = criterion", "forward"), ("epoch_loss +=", "other"),
                                   ("loss.backward", "backward", "loss", "input.size(0)"), ("optimizer.step", "update"), ("print(", "other")],
                         "<module>": [("test()", "evaluation"), ("checkpoint(epoch)", "other")]}}, 20, 80),
    Program("imagenet", "ResNet-18 of 224 x 224", EXAMPLES_2022, "imagenet", ["main.py", "images", "-b", "4", "-j", "1", "--epochs", "2", "--seed", "1"],
            [lambda folder: data.classes_of_images(folder / "images/train", 4, 4, 240), lambda folder: data.classes_of_images(folder / "images/val", 4, 1, 240)],
            {"main.py": {"train": [("for i, (images", "!input"), ("output = model", "forward"), ("acc1, acc5", "other"), ("optimizer.zero_grad", "clear"),
                                   ("loss.backward", "backward", "loss", "images.size(0)"), ("optimizer.step", "update"), ("batch_time.update", "other")],
                         "main_worker": [("acc1 = validate", "evaluation"), ("scheduler.step()", "other")]}}, 8, 32),
    Program("language_model", "language, LSTM, no DataLoader", TUTORIAL, "tutorials/02-intermediate/language_model", ["main.py"],
            [lambda folder: data.text(folder / "data/train.txt", 1200)],
            {"main.py": {"<module>": [("for i in range(0, ids", "!other"), ("inputs = ids", "other"), ("outputs, states", "forward"), ("optimizer.zero_grad", "clear"),
                                      ("loss.backward", "backward", "loss", "inputs.size(0)"), ("clip_grad_norm_", "other"), ("optimizer.step", "update"), ("step = (i", "other"),
                                      ("with torch.no_grad", "!other")]}}, None, None),
    Program("word_language_model", "language, LSTM, updates without an optimizer", EXAMPLES_2022, "word_language_model",
            ["main.py", "--data", "text", "--emsize", "32", "--nhid", "32", "--epochs", "2", "--batch_size", "10"],
            [lambda folder: [data.text(folder / f"text/{name}.txt", words, seed) for seed, (name, words) in enumerate((("train", 4000), ("valid", 600), ("test", 600)))]],
            {"main.py": {"train": [("for batch, i", "!other"), ("model.zero_grad", "clear"), ("output, hidden", "forward"), ("loss.backward", "backward", "loss", "data.size(1)"),
                                   ("torch.nn.utils.clip", "other"), ("for p in model", "update"), ("total_loss +=", "other")],
                         "<module>": [("val_loss = evaluate", "evaluation"), ("print('-'", "other")]}}, 26, 260),
    Program("minGPT", "language, a trainer's loop", MINGPT, "projects/adder", ["adder.py", "--trainer.max_iters=40", "--trainer.num_workers=0"], [],
            {"mingpt/trainer.py": {"Trainer.run": [("batch = next", "!input"), ("logits, self.loss", "forward"), ("model.zero_grad", "clear"),
                                           ("self.loss.backward", "backward", "self.loss", "x.size(0)"), ("torch.nn.utils.clip", "other"), ("self.optimizer.step", "update"),
                                           ("self.trigger_callbacks", "other"), ("break", "!other")]},
             "adder.py": {"batch_end_callback": [("model.eval", "evaluation"), ("model.train()", "other")]}}, 40, 2560, taken=("mingpt",), path="."),
    Program("nanoGPT", "language, accumulation, no DataLoader", NANOGPT, ".",
            ["train.py", "config/train_shakespeare_char.py", "--device=cpu", "--compile=False", "--dtype=float32", "--eval_iters=2", "--log_interval=1", "--block_size=32",
             "--batch_size=8", "--n_layer=2", "--n_head=2", "--n_embd=64", "--max_iters=30", "--lr_decay_iters=30", "--dropout=0.0", "--gradient_accumulation_steps=4",
             "--eval_interval=10"], [lambda folder: data.characters(folder / "data/shakespeare_char", 20000)],
            {"train.py": {"<module>": [("lr = get_lr", "!other"), ("losses = estimate_loss", "evaluation"), ("print(f\"step {iter_num}", "other"), ("for micro_step", "other"),
                                       ("logits, loss = model", "forward"), ("X, Y = get_batch('train')", "input"), ("scaler.scale(loss).backward", "backward", "loss", "X.size(0)"),
                                       ("if grad_clip", "other"), ("scaler.step(optimizer)", "update"), ("scaler.update", "other"), ("optimizer.zero_grad", "clear"), ("t1 = time", "other")]}}, 31, 992, env=("-u", "RANK"), note="started without the variable RANK, with which it takes NCCL"),
    Program("time_sequence_prediction", "LBFGS", EXAMPLES, "time_sequence_prediction", ["train.py", "--steps", "4"], [lambda folder: data.waves(folder / "traindata.pt", 40, 60)],
            {"train.py": {"<module>": [("print('STEP", "!other"), ("optimizer.step", "update", None, "input.size(0)"), ("with torch.no_grad", "evaluation"), ("plt.figure", "other")],
                          "closure": [("optimizer.zero_grad", "clear"), ("out = seq", "forward"), ("loss.backward", "backward", "loss"), ("return", "update")]}}, 4, 148, is_closure=True),
    Program("reinforce", "reinforcement learning", EXAMPLES, "reinforcement_learning", ["reinforce.py"], [],
            {"reinforce.py": {"main": [("state, _ = env.reset", "!other")], "select_action": [("probs = policy", "forward"), ("m = Categorical", "other")],
                              "finish_episode": [("optimizer.zero_grad", "clear"), ("policy_loss = torch.cat", "forward"), ("policy_loss.backward", "backward", "policy_loss", "len(returns)"),
                                                 ("optimizer.step", "update"), ("del policy.rewards", "other")]}}, None, None, note="a stub in place of gymnasium"),
    Program("actor_critic", "reinforcement learning", EXAMPLES, "reinforcement_learning", ["actor_critic.py"], [],
            {"actor_critic.py": {"main": [("state, _ = env.reset", "!other")], "select_action": [("probs, state_value = model", "forward"), ("m = Categorical", "other")],
                                 "finish_episode": [("optimizer.zero_grad", "clear"), ("loss = torch.stack", "forward"), ("loss.backward", "backward", "loss", "len(returns)"),
                                                    ("optimizer.step", "update"), ("del model.rewards", "other")]}}, None, None, note="a stub in place of gymnasium"),
    Program("mnist_hogwild", "two processes, Hogwild", EXAMPLES, "mnist_hogwild", ["main.py", "--epochs", "1", "--batch-size", "64"], [mnist()],
            {"train.py": {"train_epoch": usual("for batch_idx", "output = model", "data.size(0)", ("if batch_idx %", "other"))}}, 32, 2000),
    Program("mnist_forward_forward", "forward-forward, an optimizer a layer", EXAMPLES, "mnist_forward_forward",
            ["main.py", "--no_accel", "--train_size", "1000", "--test_size", "200", "--epochs", "10"], [mnist("data/MNIST/raw")],
            {"main.py": {"Layer.train": [("for i in range(self", "!forward"), ("self.opt.zero_grad", "clear"), ("loss.backward", "backward", "loss", "x_pos.size(0)"),
                                   ("self.opt.step", "update"), ("if i % args", "other")]}}, 20, None),
    Program("gat", "graph attention, one batch", EXAMPLES, "gat", ["main.py", "--no-accel", "--epochs", "12", "--hidden-dim", "16", "--num-heads", "2"],
            [lambda folder: data.citations(folder / "cora", 1750, 64)],
            {"main.py": {"train_iter": [("model.train()", "!other"), ("optimizer.zero_grad", "clear"), ("output = model", "forward"), ("loss.backward", "backward", "loss", "input[0].size(0)"),
                                        ("optimizer.step", "update"), ("loss_train, acc", "evaluation"), ("if epoch %", "other")],
                         "<module>": [("loss_test, acc", "!evaluation"), ("print(f'Test set", "other")]}}, 12, None),
    Program("pytorch-template", "a trainer class", TEMPLATE, ".", ["train.py", "-c", "small.json"], [mnist("data/MNIST/raw"), lambda folder: small_template(folder)],
            {"trainer/trainer.py": {"Trainer._train_epoch": [("for batch_idx", "!input"), ("self.optimizer.zero_grad", "clear"), ("output = self.model", "forward"),
                                                     ("loss.backward", "backward", "loss", "data.size(0)"), ("self.optimizer.step", "update"), ("self.writer.set_step", "other"),
                                                     ("val_log = self", "evaluation"), ("log.update(**", "other")]}}, 30, 1800),
    Program("regression", "updates without an optimizer", EXAMPLES, "regression", ["main.py"], [], {"main.py": {"<module>": [
        ("batch_x, batch_y", "!other"), ("fc.zero_grad", "clear"), ("output = F", "forward"), ("output.backward", "backward", "output", "batch_x.size(0)"),
        ("for param in fc", "update"), ("if loss <", "other"), ("print('Loss", "!other")]}}, None, None),
    Program("training-operator", "DistributedDataParallel, Gloo", TRAINING_OPERATOR, "examples/pytorch/mnist", ["mnist.py", "--epochs", "2"], [mnist("../data/FashionMNIST/raw")],
            {"mnist.py": {"train": usual("for batch_idx", "output = model", "data.size(0)", ("if batch_idx %", "other")), "main": [("test(", "evaluation"), ("if args.save", "other")]}},
            16, 2000, ranks=2, note="a stub in place of tensorboardX"),
]


def small_template(folder):
    import json

    recipe = json.loads((folder / "config.json").read_text())
    recipe["data_loader"]["args"].update(batch_size=60, num_workers=0)
    for name, epochs in (("small.json", 2), ("longer.json", 12)):
        recipe["trainer"].update(epochs=epochs, tensorboard=False)
        (folder / name).write_text(json.dumps(recipe))


@dataclasses.dataclass
class Strategies:
    """A program with the two lines of dtctl_sync: what takes the place of what in its files, and the figure that it prints at its end."""

    name: str
    edits: list
    figure: str
    halved: list  # arguments that halve the batch, for two workers: the global batch is that of the plain form
    words: list = dataclasses.field(default_factory=list)  # in place of some of its arguments
    servers_rate: float = 0  # where the servers update by SGD in place of the program's optimizer; 0: it has no option for it


IMPORT = ("import torch\n", "import torch\nimport dtctl_sync as sync\n")


def adds(line):
    """The line that prepares, behind the one that makes the optimizer."""
    blanks = line[: len(line) - len(line.lstrip())]
    return (line + "\n", f"{line}\n{blanks}model, optimizer = sync.prepare(model, optimizer)\n")


def evaluates(line):
    blanks = line[: len(line) - len(line.lstrip())]
    return (line + "\n", f"{blanks}with sync.training().evaluation():\n    {line}\n")


def of_mnist(call):
    return [("main.py", *IMPORT), ("main.py", *adds("    optimizer = optim.Adadelta(model.parameters(), lr=args.lr)")),
            ("main.py", "enumerate(train_loader)", "enumerate(sync.batches(train_loader))"), ("main.py", *evaluates(f"        test({call})"))]


WITH_STRATEGIES = [
    Strategies("mnist", of_mnist("model, device, test_loader"), r"Accuracy: (\d+)/(\d+)", ["--batch-size", "32"], ["--epochs", "4", "--gamma", "1"], 0.05),
    Strategies("mnist_rnn", of_mnist("args, model, device, test_loader"), r"Accuracy: (\d+)/(\d+)", ["--batch-size", "32"], ["--epochs", "12", "--lr", "1", "--gamma", "1"],
               0.1),
    Strategies("vae", [("main.py", *IMPORT), ("main.py", *adds("optimizer = optim.Adam(model.parameters(), lr=1e-3)")),
                       ("main.py", "enumerate(train_loader)", "enumerate(sync.batches(train_loader))"), ("main.py", *evaluates("        test(epoch)"))],
               r"Test set loss: ([-\d.naif]+)", ["--batch-size", "50"], ["--epochs", "4"]),
    Strategies("pytorch-template", [("train.py", *IMPORT), ("train.py", *adds("    optimizer = config.init_obj('optimizer', torch.optim, trainable_params)")),
                                    ("trainer/trainer.py", *IMPORT), ("trainer/trainer.py", "enumerate(self.data_loader)", "enumerate(sync.batches(self.data_loader))"),
                                    ("parse_config.py", "(r'%m%d_%H%M%S')", "('%m%d_%H%M%S_') + os.environ['RANK']")],  # its folder of this second is for one process
               r"val_accuracy *: ([\d.]+)", ["--bs", "30"], ["-c", "longer.json"], 0.05),
    Strategies("minGPT", [("mingpt/trainer.py", *IMPORT), ("mingpt/trainer.py", "        self.optimizer = model.configure_optimizers(config)\n",
                                                          "        self.optimizer = model.configure_optimizers(config)\n        model, self.optimizer = sync.prepare(model, self.optimizer)\n"),
                          ("mingpt/trainer.py", "iter(train_loader)", "iter(sync.batches(train_loader, steps=40))")], r"iter \d+: train loss ([\d.nai]+)", ["--trainer.batch_size=32"]),
]

# What the strategies of the registry get here beside their name. With a server: three ranks, of which two train.
PERIOD, SERVER = {"period": 4}, {"servers": 1}
SETTINGS = {
    "sync-sgd": {}, "hsgd": {}, "local-sgd": PERIOD, "diloco": PERIOD, "sync-easgd": PERIOD, "decentralized-easgd": PERIOD,
    "async-sgd": SERVER, "async-msgd": SERVER, "hogwild-sgd": SERVER, "easgd": {**PERIOD, **SERVER}, "async-easgd": {**PERIOD, **SERVER},
    "async-measgd": {**PERIOD, **SERVER}, "hogwild-easgd": {**PERIOD, **SERVER},
}
SERVERS_UPDATE = ("async-sgd", "async-msgd", "hogwild-sgd")  # by SGD with the script's learning rate
