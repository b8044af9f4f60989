/** The words of the page about money to return, besides those of the hosted page. `{name}` is a placeholder. */
export const claimEn = {
  title: 'Money at the deposit address',
  intro:
    'Money that arrives at a deposit address and cannot be used for this payment can only go back to the refund address that was entered before. Neither you nor the merchant can change that address.',
  nothing: 'This payment has no deposit address.',
  place: 'Deposit address on {network}',
  others: 'Other addresses, perhaps not yours: {count}',
  goesTo: 'Goes back to',
  accepted: '{amount} {why}, but it is accepted as the payment.',
  arrived: '{amount} has arrived.',
  counts: 'It counts towards this payment if the missing {rest} arrives here by {time}.',
  countsApart: 'It counts towards this payment only if the rest arrives here by {time}.',
  countsEnough: 'That is enough. It becomes the payment.',
  elseGoes: 'Otherwise it goes back automatically after that.',
  elseWaits: 'Otherwise it goes back automatically after {time}, unless the merchant accepts it.',
  elseByHand: 'Otherwise it stays here, and any wallet can send it back below.',
  elseHeld:
    'Otherwise the merchant may accept it until {time}. After that any wallet can send it back below.',
  allByHand: 'At the moment nothing goes back automatically here. Any wallet can send money back.',
  small:
    'Less than {least} does not go back automatically. The same holds for coins and tokens that are not offered here, and for money that arrives more than a week after the time to pay. Any wallet can send such money back.',
  token: 'What was sent',
  coin: 'The network’s own coin',
  other: 'Another token',
  contract: 'Contract address of the token',
  look: 'Show what is there',
  lies: '{amount} is there.',
  empty: 'This address has none of it.',
  later: 'The contract releases it after {time}.',
  sendBack: 'Send it back with {wallet}',
  walletHint: 'Any wallet can do it and pays only the network fee. The money goes to the address above.',
  confirm: 'Confirm in your wallet.',
  walletCannotSend: 'This wallet cannot send from this page. Use another wallet.',
  failed: 'Your wallet reports an error. If it has sent nothing, try again.',
  sent: 'Sent. It is back once {network} has confirmed it.',
  reclaim:
    'If the merchant has not received your payment by {time}, it goes back to {address}. Any wallet can send it back here.',
  takeBack: 'Take the payment back',
  noScript: 'To send it back yourself, allow scripts for this page.',
  toPayment: 'To the payment',
  refused: 'That is not possible at the moment. Try again later.',
} as const;

/** The words of one language. */
export type ClaimTexts = { readonly [Name in keyof typeof claimEn]: string };
