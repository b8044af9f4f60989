import { claimAr } from './ar.ts';
import { claimDe } from './de.ts';
import { type ClaimTexts, claimEn } from './en.ts';
import { claimEs } from './es.ts';
import { claimFr } from './fr.ts';
import { claimIt } from './it.ts';
import { claimJa } from './ja.ts';
import { claimPt } from './pt.ts';
import { claimTr } from './tr.ts';
import { claimZh } from './zh.ts';

/** The words of the page about money to return, by language tag. */
export const claimTexts: Readonly<Record<string, ClaimTexts>> = {
  en: claimEn,
  de: claimDe,
  fr: claimFr,
  es: claimEs,
  pt: claimPt,
  it: claimIt,
  ja: claimJa,
  zh: claimZh,
  ar: claimAr,
  tr: claimTr,
};
