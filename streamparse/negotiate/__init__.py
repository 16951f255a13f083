"""Knowledge about providers and models, and how to speak with each."""

from streamparse.negotiate.capabilities import (
    Capabilities,
    find_capabilities,
    find_family,
    find_provider,
    list_families,
    list_providers,
)
from streamparse.negotiate.learner import NATIVE, CapabilityLearner, Figures, count_outcomes, says_no_tools
from streamparse.negotiate.negotiator import FormatNegotiator, NegotiatedFormat
from streamparse.negotiate.profiles import Configuration, ConfigurationError, Profile, ToolSettings
from streamparse.negotiate.stores import JSONFile, Record, SharedStore, SQLiteFile, Store

__all__ = [
    "NATIVE",
    "Capabilities",
    "CapabilityLearner",
    "Configuration",
    "ConfigurationError",
    "Figures",
    "FormatNegotiator",
    "JSONFile",
    "NegotiatedFormat",
    "Profile",
    "Record",
    "SQLiteFile",
    "SharedStore",
    "Store",
    "ToolSettings",
    "count_outcomes",
    "find_capabilities",
    "find_family",
    "find_provider",
    "list_families",
    "list_providers",
    "says_no_tools",
]  # fmt: skip
