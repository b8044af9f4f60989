/** What needs a proof, by the beginning of its path; a longer beginning stands first. */
const words: readonly (readonly [string, string])[] = [
  ['/me/', 'A change of how you sign in'],
  ['/refund/create', 'Refunding a payment'],
  ['/refund/signing/start', 'Signing a refund'],
  ['/refund/', 'A change of a refund'],
  ['/exception/', 'A decision about an exception'],
  ['/webhook/', 'The secret of a webhook'],
  ['/merchant/', 'A change of the shop’s name'],
  ['/account/', 'A change of your wallets'],
  ['/member/', 'A change of the team'],
  ['/invitation/', 'A change of the team'],
  ['/key/', 'A change of your API keys'],
  ['/staff/merchant/', 'A change of a merchant'],
  ['/staff/token/', 'Stopping or taking a token'],
  ['/staff/', 'An act of the operator'],
];

/** Which act needs the proof, as a sentence begins. `call` is as `POST /key/create`. */
export function proofWords(call: string): string {
  const path = call.slice(call.indexOf(' ') + 1);
  return words.find(([beginning]) => path.startsWith(beginning))?.[1] ?? 'This act';
}
