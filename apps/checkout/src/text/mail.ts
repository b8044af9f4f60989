import { withFrenchSpaces } from './french-spaces.ts';

/** The words of e-mails to payers, besides those of the hosted page. `{name}` is a placeholder. */
const en = {
  receiptSubject: 'Your receipt from {merchant}',
  receiptTitle: 'You paid {amount}',
  receiptIntro: 'Your payment to {merchant} is final. Keep this e-mail as your receipt.',
  refundSubject: 'Your refund from {merchant}',
  refundTitle: '{amount} refunded',
  refundIntro: 'In total, {amount} of your payment of {total} to {merchant} has been refunded.',
  fee: 'Fee',
  total: 'Total',
  transaction: 'Transaction',
  sentBackTo: 'Sent back to',
  open: 'Open the payment',
  why: 'You get this e-mail because this address was given for a payment to {merchant}.',
};

/** The words of one language. */
export type MailTexts = { readonly [Name in keyof typeof en]: string };

const de: MailTexts = {
  receiptSubject: 'Ihr Beleg von {merchant}',
  receiptTitle: 'Sie haben {amount} bezahlt',
  receiptIntro: 'Ihre Zahlung an {merchant} ist endgültig. Bewahren Sie diese E-Mail als Beleg auf.',
  refundSubject: 'Ihre Erstattung von {merchant}',
  refundTitle: '{amount} erstattet',
  refundIntro: 'Insgesamt wurden {amount} Ihrer Zahlung von {total} an {merchant} erstattet.',
  fee: 'Gebühr',
  total: 'Gesamt',
  transaction: 'Transaktion',
  sentBackTo: 'Zurückgesendet an',
  open: 'Zahlung öffnen',
  why: 'Sie erhalten diese E-Mail, weil diese Adresse bei einer Zahlung an {merchant} angegeben wurde.',
};

const fr: MailTexts = withFrenchSpaces({
  receiptSubject: 'Votre reçu de {merchant}',
  receiptTitle: 'Vous avez payé {amount}',
  receiptIntro: 'Votre paiement à {merchant} est définitif. Conservez cet e-mail comme reçu.',
  refundSubject: 'Votre remboursement de {merchant}',
  refundTitle: 'Remboursement de {amount}',
  refundIntro: 'Total remboursé : {amount} sur votre paiement de {total} à {merchant}.',
  fee: 'Frais',
  total: 'Montant total',
  transaction: 'Transaction',
  sentBackTo: 'Renvoyé à',
  open: 'Ouvrir le paiement',
  why: 'Vous recevez cet e-mail car cette adresse a été indiquée lors d’un paiement à {merchant}.',
});

const es: MailTexts = {
  receiptSubject: 'Su recibo de {merchant}',
  receiptTitle: 'Ha pagado {amount}',
  receiptIntro: 'Su pago a {merchant} es definitivo. Guarde este correo como recibo.',
  refundSubject: 'Su reembolso de {merchant}',
  refundTitle: 'Reembolso de {amount}',
  refundIntro: 'Total reembolsado: {amount} de su pago de {total} a {merchant}.',
  fee: 'Comisión',
  total: 'Importe total',
  transaction: 'Transacción',
  sentBackTo: 'Devuelto a',
  open: 'Abrir el pago',
  why: 'Recibe este correo porque se indicó esta dirección en un pago a {merchant}.',
};

const pt: MailTexts = {
  receiptSubject: 'Seu recibo de {merchant}',
  receiptTitle: 'Você pagou {amount}',
  receiptIntro: 'Seu pagamento a {merchant} é definitivo. Guarde este e-mail como recibo.',
  refundSubject: 'Seu reembolso de {merchant}',
  refundTitle: 'Reembolso de {amount}',
  refundIntro: 'Total reembolsado: {amount} do seu pagamento de {total} a {merchant}.',
  fee: 'Taxa',
  total: 'Valor total',
  transaction: 'Transação',
  sentBackTo: 'Devolvido a',
  open: 'Abrir o pagamento',
  why: 'Você recebe este e-mail porque este endereço foi informado em um pagamento a {merchant}.',
};

const it: MailTexts = {
  receiptSubject: 'La tua ricevuta di {merchant}',
  receiptTitle: 'Hai pagato {amount}',
  receiptIntro: 'Il tuo pagamento a {merchant} è definitivo. Conserva questa e-mail come ricevuta.',
  refundSubject: 'Il tuo rimborso da {merchant}',
  refundTitle: 'Rimborso di {amount}',
  refundIntro: 'Totale rimborsato: {amount} del tuo pagamento di {total} a {merchant}.',
  fee: 'Commissione',
  total: 'Totale',
  transaction: 'Transazione',
  sentBackTo: 'Restituito a',
  open: 'Apri il pagamento',
  why: 'Ricevi questa e-mail perché questo indirizzo è stato indicato in un pagamento a {merchant}.',
};

const ja: MailTexts = {
  receiptSubject: '{merchant} からの領収書',
  receiptTitle: '{amount} を支払いました',
  receiptIntro: '{merchant} への支払いが確定しました。このメールを領収書として保管してください。',
  refundSubject: '{merchant} からの返金',
  refundTitle: '{amount} が返金されました',
  refundIntro: '{merchant} への支払い {total} のうち、合計 {amount} が返金されました。',
  fee: '手数料',
  total: '合計',
  transaction: 'トランザクション',
  sentBackTo: '返金先',
  open: '支払いを開く',
  why: '{merchant} への支払いでこのメールアドレスが入力されたため、このメールをお送りしています。',
};

const zh: MailTexts = {
  receiptSubject: '{merchant} 的收据',
  receiptTitle: '您已支付 {amount}',
  receiptIntro: '您向 {merchant} 的付款已最终确认。请保留此邮件作为收据。',
  refundSubject: '{merchant} 的退款',
  refundTitle: '已退款 {amount}',
  refundIntro: '您向 {merchant} 支付的 {total} 中，共退款 {amount}。',
  fee: '手续费',
  total: '合计',
  transaction: '交易',
  sentBackTo: '退还至',
  open: '打开付款',
  why: '您收到此邮件，是因为在向 {merchant} 付款时填写了此邮箱。',
};

const ar: MailTexts = {
  receiptSubject: 'إيصالك من {merchant}',
  receiptTitle: 'لقد دفعت {amount}',
  receiptIntro: 'دفعتك إلى {merchant} نهائية. احتفظ بهذه الرسالة إيصالًا.',
  refundSubject: 'استرداد من {merchant}',
  refundTitle: 'استُرد {amount}',
  refundIntro: 'مجموع ما استُرد: {amount} من دفعتك البالغة {total} إلى {merchant}.',
  fee: 'الرسوم',
  total: 'الإجمالي',
  transaction: 'المعاملة',
  sentBackTo: 'أُعيد إلى',
  open: 'فتح الدفعة',
  why: 'تصلك هذه الرسالة لأن هذا البريد الإلكتروني أُدخل عند الدفع إلى {merchant}.',
};

const tr: MailTexts = {
  receiptSubject: '{merchant} makbuzunuz',
  receiptTitle: '{amount} ödediniz',
  receiptIntro: '{merchant} satıcısına yaptığınız ödeme kesinleşti. Bu e-postayı makbuz olarak saklayın.',
  refundSubject: '{merchant} iadeniz',
  refundTitle: '{amount} iade edildi',
  refundIntro:
    '{merchant} satıcısına yaptığınız {total} tutarındaki ödemenin toplam {amount} tutarı iade edildi.',
  fee: 'Ücret',
  total: 'Toplam',
  transaction: 'İşlem',
  sentBackTo: 'Geri gönderilen adres',
  open: 'Ödemeyi aç',
  why: 'Bu e-postayı, {merchant} satıcısına yapılan bir ödemede bu adres girildiği için alıyorsunuz.',
};

const byTag: Readonly<Record<string, MailTexts>> = { en, de, fr, es, pt, it, ja, zh, ar, tr };

/** The words in a language of the hosted page; English for others. */
export function mailTexts(tag: string): MailTexts {
  return byTag[tag] ?? en;
}
