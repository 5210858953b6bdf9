"""Illnesses, diets and medicines, as far as people name them in conversation."""

from __future__ import annotations

from typing import Final

from app.english.words import word_set

CONDITIONS: Final = word_set(
    """
    acne adhd alopecia alzheimer's amnesia anaemia anemia anxiety aphantasia arrhythmia arthritis asperger's asthma
    ataxia autism bipolar bronchitis cancer cataracts celiac coeliac colitis copd crohn's depression diabetes
    dyscalculia dyslexia dyspraxia eczema endometriosis epilepsy fibromyalgia gastritis gerd glaucoma gout
    haemophilia hemophilia hepatitis hiv hypertension hyperthyroidism hypothyroidism ibs insomnia leukemia lupus
    lymphoma melanoma migraines migraine multiple-sclerosis narcolepsy ocd osteoarthritis osteoporosis parkinson's
    pcos pots prediabetes psoriasis ptsd rosacea sciatica scoliosis tinnitus tourette's vertigo vitiligo
    """
)

CONDITION_HEADS: Final = word_set(
    """
    disease disorder syndrome deficiency condition intolerance pressure apnea apnoea arrest failure allergies
    diabetes
    """
)
"""Last words of longer names: `high blood pressure`, `sleep apnea`."""

STATES: Final = frozenset(
    {
        "diabetic", "asthmatic", "epileptic", "dyslexic", "autistic", "lactose intolerant", "lactose-intolerant",
        "gluten intolerant", "colour-blind", "colorblind", "color-blind", "colour blind", "color blind", "celiac",
        "coeliac", "deaf", "blind", "hard of hearing", "pregnant", "anaemic", "anemic", "hypertensive", "bipolar",
        "neurodivergent", "immunocompromised", "insulin resistant",
    }
)  # fmt: skip
"""What one is, for as long as it matters."""

DIETS: Final = frozenset(
    {
        "vegetarian", "vegan", "pescatarian", "flexitarian", "gluten-free", "gluten free", "dairy-free", "dairy free",
        "keto", "kosher", "halal", "paleo", "lacto-vegetarian", "teetotal", "sober", "plant-based",
    }
)  # fmt: skip

FOODS: Final = word_set(
    """
    alcohol bacon beef beer bread butter caffeine cheese chicken chocolate coffee dairy eggs fish garlic gluten lamb
    meat milk mushrooms nuts onions peanuts pork rice seafood shellfish soda sugar sushi tea tofu tomatoes wheat
    wine carbs sweets lactose soy cilantro
    """
)

COUNTED: Final = {
    one: f"{one}s"
    for one in (
        "peanut",
        "nut",
        "tree nut",
        "cat",
        "dog",
        "egg",
        "almond",
        "walnut",
        "cashew",
        "hazelnut",
        "mushroom",
        "bee",
    )
} | {"strawberry": "strawberries", "tomato": "tomatoes"}
"""`a peanut allergy` is one to peanuts."""

DOSE: Final = r"\d+(?:[.,]\d+)?\s?(?:mg|mcg|µg|g|ml|iu|units?|tablets?|pills?)\b"

MEDICINES: Final = word_set(
    """
    metformin insulin ibuprofen aspirin lisinopril atorvastatin levothyroxine amlodipine omeprazole losartan
    sertraline fluoxetine citalopram escitalopram prozac zoloft lexapro warfarin prednisone amoxicillin penicillin
    antibiotics antidepressants antihistamines statins melatonin adderall ritalin lithium gabapentin paracetamol
    acetaminophen tylenol advil xanax ozempic humira methotrexate albuterol ventolin inhaler vitamins supplements
    creatine beta-blockers
    """
)
