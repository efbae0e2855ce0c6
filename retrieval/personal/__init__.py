"""Finds and masks personal data in texts: e-mail addresses, phones, cards, IBANs, Russian INN, OGRN, SNILS and passports."""
