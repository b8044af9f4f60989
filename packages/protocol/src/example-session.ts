/** Sessions of the examples: one that waits for its payer, and one that is paid and settled. */

const recipient = '0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD';
const payer = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const payTx = '0x5976e9b97edce58d26e3c67cf48e25e267cda2cacffa53aa5e649b636830d95a';
const settleTx = '0x61a8413c3657f9d264eeb53db4c6b9aa636d24daec714f10ecdc1e46ae71acb8';

export const sessionId = 'sess_DnhPU22hm3H4P2tyZClFPv';
const clientCode = 'zLKFxFeo2mSyMrMK4nMXJz';

/** The body of the examples' POST /session/checkout/create. */
export const sessionRequest = {
  accountId: 'acc_LFnR2bDJjNsNu9SwBElfNr',
  settlementToken: 'base::usdc',
  feeModel: 1,
  lineItems: [
    { itemType: 'product', productId: 'prd_eP8Q86wXwfDMjUdHWeDg6D', quantity: 2 },
    {
      itemType: 'one_time',
      quantity: 1,
      unitPrice: 4_500_000,
      productData: { productName: 'Gift wrapping' },
    },
  ],
  successUrl: 'https://shop.example.com/thanks?session={SESSION_ID}',
  cancelUrl: 'https://shop.example.com/cart',
  customSuccessText: 'Thank you! We ship on the next working day.',
  metadata: { orderNumber: 'A-1042' },
} as const;

const lineItems = {
  items: [
    {
      lineItemId: 'li_UY0a1e6TRqRQRFVaTyBWdR',
      itemType: 'product',
      productId: 'prd_eP8Q86wXwfDMjUdHWeDg6D',
      quantity: 2,
      unitPrice: 10_000_000,
      productData: {
        productName: 'Green tea',
        productDescription: 'One kilogram of loose leaves',
        imageUrl: '',
        attributes: [{ name: 'Origin', value: 'Uji' }],
      },
    },
    {
      lineItemId: 'li_EuVtnPBQyTZrGnuiA0TCdv',
      itemType: 'one_time',
      productId: '',
      quantity: 1,
      unitPrice: 4_500_000,
      productData: { productName: 'Gift wrapping', productDescription: '', imageUrl: '', attributes: [] },
    },
  ],
} as const;

export function initializedSession(origin: string) {
  return {
    sessionId,
    sessionType: 'chk',
    businessId: '',
    businessType: '',
    clientCode,
    payer: '',
    payerEmail: '',
    payerEmailRequired: 0,
    paidToken: '',
    receiptId: '',
    recipient,
    settlementToken: 'base::usdc',
    feeModel: 1,
    amount: 24_500_000,
    lineItems,
    expirationTime: 1_767_324_600,
    successUrl: sessionRequest.successUrl,
    cancelUrl: sessionRequest.cancelUrl,
    customSuccessText: sessionRequest.customSuccessText,
    paymentUrl: `${origin}/checkout/${sessionId}#${clientCode}`,
    signedOnce: 0,
    initiateTx: '',
    completeTx: '',
    paymentSucceededTime: null,
    settlementSucceededTime: null,
    createAt: '2026-01-02 03:00:00',
    status: 'initialized',
    pendingReason: '',
    intendedPayer: '',
    refundedAmount: 0,
    metadata: sessionRequest.metadata,
  } as const;
}

/** The same session after its payment: paid by default, or in the given status. */
export function paidView<const Status extends string>(origin: string, status: Status) {
  const isCompleted = status === 'completed';
  const completeTx = isCompleted ? settleTx : '';
  const finalizeTime = isCompleted ? '2026-01-02 03:04:20' : '';
  return {
    session: {
      ...initializedSession(origin),
      payer,
      paidToken: 'base::usdc',
      receiptId: 'rcpt_Dy67B65x1wYbFZMYHNItzn',
      signedOnce: 1,
      initiateTx: payTx,
      completeTx,
      paymentSucceededTime: '2026-01-02 03:04:05',
      settlementSucceededTime: isCompleted ? finalizeTime : null,
      status,
      pendingReason: status === 'settlement_pending' ? 'recipient_blocked' : '',
      intendedPayer: payer,
    },
    transaction: {
      orderId: '0xcd0f310f25555564ee84b0db470afa38713038af8a093783801982815ea9c63e',
      channelId: '0xcb40ef3be6ab3c4db35bb40815c9ceaae24848cb983a466a8ce3100fcdf75c86',
      orderType: 0,
      from: payer,
      to: recipient,
      metaData: '0x7c416a5c5efce7125aea7731c5f069fb956bf739869fb08a894396daa05526d0',
      totalValue: 24_500_000,
      paymentValue: 24_500_000,
      feeValue: 49_000,
      netValue: 24_451_000,
      addedValue: 0,
      paidAmountInToken: '24500000',
      sourceTx: payTx,
      targetTx: completeTx,
      executeTime: '2026-01-02 03:04:05',
      finalizeTime,
    },
  } as const;
}
