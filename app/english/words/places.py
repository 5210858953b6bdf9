"""Places, peoples and languages."""

from __future__ import annotations

from typing import Final

from app.english.word_lists import entries
from app.english.words import word_set

COUNTRIES: Final = word_set(
    """
    afghanistan albania algeria argentina armenia australia austria azerbaijan bangladesh belarus belgium bolivia
    bosnia brazil britain bulgaria cambodia cameroon canada chile china colombia croatia cuba cyprus czechia denmark
    ecuador egypt england estonia ethiopia europe finland france georgia germany ghana greece guatemala haiti
    honduras hungary iceland india indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya
    korea kosovo kuwait laos latvia lebanon libya lithuania luxembourg malaysia malta mexico moldova mongolia
    morocco mozambique myanmar namibia nepal netherlands nicaragua nigeria norway pakistan palestine panama paraguay
    peru philippines poland portugal qatar romania russia rwanda scotland senegal serbia singapore slovakia slovenia
    somalia spain sudan sweden switzerland syria taiwan tanzania thailand tunisia turkey uganda ukraine uk uruguay
    us usa uzbekistan venezuela vietnam wales yemen zambia zimbabwe africa asia america
    """
)

CITIES: Final = frozenset(entries("cities"))

PLACE_PHRASES: Final = frozenset(
    {
        "new york", "new york city", "san francisco", "los angeles", "san diego", "san jose", "las vegas",
        "new orleans", "new zealand", "south africa", "south korea", "north korea", "saudi arabia", "costa rica",
        "sri lanka", "united states", "united kingdom", "united arab emirates", "hong kong", "buenos aires",
        "rio de janeiro", "sao paulo", "são paulo", "mexico city", "cape town", "tel aviv", "abu dhabi",
        "kuala lumpur", "new delhi", "czech republic", "dominican republic", "puerto rico", "palo alto",
        "mountain view", "santa monica", "münchen", "zürich", "düsseldorf", "köln", "north carolina",
        "south carolina", "new jersey", "new mexico", "new hampshire", "el salvador", "salt lake city", "st louis",
        "santa cruz", "san antonio", "fort worth", "the netherlands", "the us", "the usa", "the uk",
        "the united states", "the united kingdom", "the philippines", "the bay area", "bay area", "silicon valley",
        "washington dc", "malmö", "göteborg",
    }
)  # fmt: skip
"""Names of more than one word, and those with an article or an umlaut."""

LANGUAGES: Final = word_set(
    """
    arabic bengali bulgarian cantonese catalan chinese croatian czech danish dutch english estonian farsi finnish
    french german greek hebrew hindi hungarian icelandic indonesian irish italian japanese korean latin lithuanian
    malay mandarin norwegian persian polish portuguese punjabi romanian russian serbian slovak spanish swahili
    swedish tagalog tamil telugu thai turkish ukrainian urdu vietnamese welsh
    """
)

NATIONALITIES: Final = LANGUAGES - {
    "latin",
    "cantonese",
    "mandarin",
    "hindi",
    "tagalog",
    "tamil",
    "telugu",
} | word_set(
    """
    american canadian australian austrian belgian brazilian british colombian egyptian ethiopian european filipino
    ghanaian indian iranian iraqi israeli jamaican kenyan lebanese mexican moroccan nepalese nigerian pakistani
    peruvian scottish swiss syrian taiwanese argentinian chilean venezuelan cuban
    """
)
