"""From rows of JSON to pandas DataFrames with units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List

from ._program import Program

if TYPE_CHECKING:
    import pandas


def frame(program: Program, rows: List[Dict[str, Any]], names: List[str], tables: List[str]) -> pandas.DataFrame:
    """Makes a DataFrame. `tables`: the views and tables that the columns come from; of two equal names the first counts.

    attrs["units"] has the unit of each column that has one, attrs["definitions"] what each column means.
    """
    known: Dict[str, Dict[str, str]] = {}
    for table in tables:
        for column in program.columns():
            if column["table"] == table:
                known.setdefault(column["column"], column)
    data = _pandas().DataFrame(rows, columns=names)
    for name in names:
        if name in known and known[name]["type"] != "TEXT":
            data[name] = _numbers(data[name])
    described = {name: known[name] for name in names if name in known}
    data.attrs["units"] = {name: column["unit"] for name, column in described.items() if column["unit"]}
    data.attrs["definitions"] = {name: column["definition"] for name, column in described.items()}
    return data


def plain_frame(rows: List[Dict[str, Any]], names: List[str], units: Dict[str, str]) -> pandas.DataFrame:
    """Makes a DataFrame of rows that are in no view, with these units."""
    data = _pandas().DataFrame(rows, columns=names)
    data.attrs["units"] = {name: unit for name, unit in units.items() if name in names}
    return data


def _numbers(column: Any) -> Any:
    if column.dtype != object:
        return column
    # JSON has no infinity and no NaN: dtctl writes them as words, which float() reads. None becomes NaN.
    return _pandas().to_numeric(column.map(lambda value: float(value) if isinstance(value, str) else value))


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("tables are pandas DataFrames, and pandas is not installed here: apt install python3-pandas, or "
                          "pip install pandas") from error
    return pandas
