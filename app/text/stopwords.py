"""Words too common to tell one text from another, by Snowball language name.

Left out on purpose although most lists have them: `may`, `will` and `mark`-like words that are also names
or months. A language without an entry has no stop words.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_ENGLISH: Final = """
a about above after again against ain't all also am an and any are as at be because been before being below
between both but by can can't cannot cant could did didnt do does doesnt doing don't dont down during each few
for from further had has have having he her here hers herself him himself his how i if im in into is isnt it
its itself ive just let me more most my myself no nor not now of off on once only or other our ours ourselves
out over own same shan't she should so some such than that the their theirs them themselves then there these
they this those through to too under until up us very was we were what when where which while who whom whose
why with won't wont would you your yours yourself yourselves
"""

STOP_WORDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType({"english": frozenset(_ENGLISH.split())})
