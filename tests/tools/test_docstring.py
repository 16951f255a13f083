"""What a docstring says of a function and of its parameters, in each of the usual styles."""

import pytest

from streamparse.schema.docstring import read_docstring

GOOGLE = """Find the weather.

    It asks a station.

    Args:
        city (str): where,
            in full
        days (Callable[[int], int], optional): how many
        **more: the rest

    Returns:
        city: not a parameter
    """

NUMPY = """Find the weather.

    It asks a station.

    Parameters
    ----------
    city : str
        where,
        in full
    days : int, optional
        how many
    **more
        the rest

    Returns
    -------
    city : str
        not a parameter
    """

SPHINX = """Find the weather.

    It asks a station.

    :param city: where,
        in full
    :type city: str
    :param int days: how many
    :param more: the rest
    :returns: city: not a parameter
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["Google", "NumPy", "Sphinx"])
def test_the_three_styles_say_the_same(text):
    assert read_docstring(text) == (
        "Find the weather.\n\nIt asks a station.",
        {"city": "where, in full", "days": "how many", "more": "the rest"},
    )


@pytest.mark.parametrize("text", [None, "", "   \n  "])
def test_no_docstring_says_nothing(text):
    assert read_docstring(text) == ("", {})


def test_prose_that_only_looks_like_a_section_stays_prose():
    text = "Take notes.\n\nNotes\nare kept: always."
    assert read_docstring(text) == (text, {})


def test_a_section_title_in_mid_sentence_is_no_section():
    assert read_docstring("Print the args: all of them.").parameters == {}


def test_parameters_that_share_a_line_share_its_text():
    text = """Move.

    Parameters
    ----------
    x, y : float
        where to
    """
    assert read_docstring(text).parameters == {"x": "where to", "y": "where to"}
