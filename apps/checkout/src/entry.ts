/** The service's access to the hosted pages: views, texts and data types. */

export { parseAmount, problemOfAmount } from './checkout/amount.ts';
export type { CheckoutData, PageItem } from './checkout/data.ts';
export { fill, formatMoney, formatTime, formatToken } from './checkout/format.ts';
export { elsewhereNotice, isAtEnd, statusView } from './checkout/status.ts';
export { detailsView, headView, itemsView, logoView } from './checkout/summary.ts';
export { flatten, h, type Tree } from './checkout/tree.ts';
export { claimView } from './claim/claim-view.ts';
export {
  type ClaimData,
  type ClaimedMoney,
  type ClaimNetwork,
  type ClaimPlace,
  coinAddress,
} from './claim/data.ts';
export { claimTexts } from './text/claim.ts';
export type { Texts } from './text/en.ts';
export { chooseLanguage, type Language, languages } from './text/languages.ts';
export { type MailTexts, mailTexts } from './text/mail.ts';
