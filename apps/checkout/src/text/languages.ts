import { ar } from './ar.ts';
import { de } from './de.ts';
import { en, type Texts } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import { pt } from './pt.ts';
import { tr } from './tr.ts';
import { zh } from './zh.ts';

export interface Language {
  /** BCP 47, for Intl and the attribute `lang`. */
  readonly tag: string;
  /** The language's own name. */
  readonly name: string;
  readonly direction: 'ltr' | 'rtl';
  readonly texts: Texts;
}

const ltr = (tag: string, name: string, texts: Texts): Language => ({ tag, name, direction: 'ltr', texts });

/** English first: it is the default. */
export const languages: readonly [Language, ...Language[]] = [
  ltr('en', 'English', en),
  ltr('de', 'Deutsch', de),
  ltr('fr', 'Français', fr),
  ltr('es', 'Español', es),
  ltr('pt', 'Português', pt),
  ltr('it', 'Italiano', it),
  ltr('ja', '日本語', ja),
  ltr('zh', '中文', zh),
  { tag: 'ar', name: 'العربية', direction: 'rtl', texts: ar },
  ltr('tr', 'Türkçe', tr),
];

/** The page's language: the chosen one, else the browser's best match (RFC 9110, Accept-Language), else English. */
export function chooseLanguage(chosen: string | undefined, accepted: string | undefined): Language {
  const wanted = [chosen ?? '', ...byPreference(accepted ?? '')];
  for (const tag of wanted) {
    const primary = tag.toLowerCase().split('-', 1)[0];
    const found = languages.find((language) => language.tag === primary);
    if (found !== undefined) return found;
  }
  return languages[0];
}

/** More entries are abuse. */
const maxAccepted = 20;

function byPreference(accepted: string): string[] {
  return accepted
    .split(',', maxAccepted)
    .map((part) => {
      const [tag = '', quality] = part.trim().split(/\s*;\s*q=/);
      const weight = quality === undefined ? 1 : Number(quality);
      return { tag, weight: Number.isFinite(weight) ? weight : 0 };
    })
    .filter(({ weight }) => weight > 0)
    .sort((left, right) => right.weight - left.weight)
    .map(({ tag }) => tag);
}
