/** The service's access to the hosted pages: views, texts and data types. */

export { noActions } from './checkout/actions.ts';
export { parseAmount, problemOfAmount } from './checkout/amount.ts';
export { amountView } from './checkout/amount-view.ts';
export { boundsText } from './checkout/bounds.ts';
export type { Drawings } from './checkout/data.ts';
export { fill, formatMoney, formatTime, formatToken, formatWait, shorten } from './checkout/format.ts';
export { headView } from './checkout/head-view.ts';
export { drawingKey, iconView } from './checkout/mark.ts';
export { initialModel, isAtEnd, isOpen, pricedBy } from './checkout/model.ts';
export { payView } from './checkout/pay-view.ts';
export { flatten, h, type Tree, wireTree } from './checkout/tree.ts';
export { claimView } from './claim/claim-view.ts';
export {
  type ArrivedMoney,
  type ClaimData,
  type ClaimedMoney,
  type ClaimNetwork,
  type ClaimPlace,
  coinAddress,
} from './claim/data.ts';
export { detailsView, footView, itemsView, merchantView } from './state/order-view.ts';
export {
  type PageData,
  type PageImage,
  type PageItem,
  type PageMerchant,
  scriptData,
} from './state/page-data.ts';
export { statusView, wordsOf } from './state/status.ts';
export { claimTexts } from './text/claim/claim-texts.ts';
export type { Texts } from './text/en.ts';
export { chooseLanguage, type Language, languages } from './text/languages.ts';
export { type MailTexts, mailTexts } from './text/mail.ts';
export { refusalWords } from './text/refusal-words.ts';
