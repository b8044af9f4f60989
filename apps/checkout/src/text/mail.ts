import { withFrenchSpaces } from './french-spaces.ts';

/** The words of e-mails to payers, besides those of the hosted page. `{name}` is a placeholder. */
const en = {
  receiptSubject: 'Your receipt from {merchant}',
  receiptTitle: 'You paid {amount}',
  receiptIntro: 'Your payment to {merchant} is final. Keep this e-mail as your receipt.',
  refundSubject: 'Your refund from {merchant}',
  refundTitle: '{amount} refunded',
  refundIntro: 'In total, {amount} of your payment of {total} to {merchant} has been refunded.',
  lostTitle: 'Your payment of {amount} does not count at the moment',
  lostIntro:
    'The network took back the block with your payment to {merchant}. The money is back where it came from, unless the same transaction comes again by itself: then the payment counts again. Before you pay once more, open the payment: it says whether you have to.',
  refundLostTitle: 'Your refund of {amount} is not with you yet',
  refundLostIntro:
    'The network took back the block with your refund from {merchant}. The refund has to be sent again, and you get another e-mail once it has arrived.',
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
  lostTitle: 'Ihre Zahlung von {amount} zählt im Moment nicht',
  lostIntro:
    'Das Netzwerk hat den Block mit Ihrer Zahlung an {merchant} zurückgenommen. Das Geld ist wieder dort, woher es kam, außer dieselbe Transaktion kommt von selbst noch einmal: Dann zählt die Zahlung wieder. Bevor Sie erneut bezahlen, öffnen Sie die Zahlung: Dort steht, ob das nötig ist.',
  refundLostTitle: 'Ihre Erstattung von {amount} ist noch nicht bei Ihnen',
  refundLostIntro:
    'Das Netzwerk hat den Block mit Ihrer Erstattung von {merchant} zurückgenommen. Die Erstattung muss noch einmal gesendet werden. Sie erhalten eine weitere E-Mail, sobald sie angekommen ist.',
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
  lostTitle: 'Votre paiement de {amount} ne compte pas pour le moment',
  lostIntro:
    'Le réseau a annulé le bloc contenant votre paiement à {merchant}. L’argent est revenu là d’où il venait, sauf si la même transaction revient d’elle-même : le paiement compte alors de nouveau. Avant de payer encore une fois, ouvrez le paiement : il indique si c’est nécessaire.',
  refundLostTitle: 'Votre remboursement de {amount} n’est pas encore chez vous',
  refundLostIntro:
    'Le réseau a annulé le bloc contenant votre remboursement de {merchant}. Le remboursement doit être renvoyé, et vous recevrez un autre e-mail dès qu’il sera arrivé.',
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
  lostTitle: 'Su pago de {amount} no cuenta por el momento',
  lostIntro:
    'La red retiró el bloque con su pago a {merchant}. El dinero ha vuelto a su origen, salvo que la misma transacción llegue de nuevo por sí sola: entonces el pago vuelve a contar. Antes de pagar otra vez, abra el pago: indica si es necesario.',
  refundLostTitle: 'Su reembolso de {amount} aún no ha llegado',
  refundLostIntro:
    'La red retiró el bloque con su reembolso de {merchant}. El reembolso debe enviarse de nuevo, y recibirá otro correo cuando haya llegado.',
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
  lostTitle: 'Seu pagamento de {amount} não conta no momento',
  lostIntro:
    'A rede desfez o bloco com seu pagamento a {merchant}. O dinheiro voltou para a origem, a menos que a mesma transação chegue de novo por si só: então o pagamento volta a contar. Antes de pagar outra vez, abra o pagamento: ele diz se é necessário.',
  refundLostTitle: 'Seu reembolso de {amount} ainda não chegou',
  refundLostIntro:
    'A rede desfez o bloco com seu reembolso de {merchant}. O reembolso precisa ser enviado de novo, e você receberá outro e-mail quando ele chegar.',
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
  lostTitle: 'Il tuo pagamento di {amount} al momento non conta',
  lostIntro:
    'La rete ha annullato il blocco con il tuo pagamento a {merchant}. Il denaro è tornato da dove è venuto, a meno che la stessa transazione non ritorni da sola: allora il pagamento conta di nuovo. Prima di pagare un’altra volta, apri il pagamento: indica se è necessario.',
  refundLostTitle: 'Il tuo rimborso di {amount} non è ancora arrivato',
  refundLostIntro:
    'La rete ha annullato il blocco con il tuo rimborso da {merchant}. Il rimborso deve essere inviato di nuovo e riceverai un’altra e-mail quando sarà arrivato.',
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
  lostTitle: '{amount} の支払いは現在有効ではありません',
  lostIntro:
    '{merchant} への支払いを含むブロックがネットワークによって取り消されました。お金は元の場所に戻っています。ただし、同じトランザクションが自動的に再び届いた場合、支払いは再び有効になります。もう一度支払う前に、支払いを開いて、支払いが必要かどうかを確認してください。',
  refundLostTitle: '{amount} の返金はまだ届いていません',
  refundLostIntro:
    '{merchant} からの返金を含むブロックがネットワークによって取り消されました。返金はもう一度送られる必要があります。届き次第、改めてメールでお知らせします。',
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
  lostTitle: '您的 {amount} 付款目前无效',
  lostIntro:
    '网络撤销了包含您向 {merchant} 付款的区块。资金已回到原处，除非同一笔交易自行再次上链：那时付款将重新有效。再次付款之前，请打开付款页面，其中会说明是否需要付款。',
  refundLostTitle: '您的 {amount} 退款尚未到账',
  refundLostIntro: '网络撤销了包含 {merchant} 退款的区块。退款需要重新发送，到账后您会收到另一封邮件。',
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
  lostTitle: 'دفعتك بقيمة {amount} غير محتسبة حاليًا',
  lostIntro:
    'ألغت الشبكة الكتلة التي فيها دفعتك إلى {merchant}. عاد المال إلى مصدره، إلا إذا عادت المعاملة نفسها من تلقاء ذاتها: عندئذ تُحتسب الدفعة من جديد. قبل أن تدفع مرة أخرى، افتح الدفعة: فهي تبيّن هل يلزم ذلك.',
  refundLostTitle: 'لم يصلك استرداد {amount} بعد',
  refundLostIntro:
    'ألغت الشبكة الكتلة التي فيها استردادك من {merchant}. يجب إرسال الاسترداد مرة أخرى، وستصلك رسالة أخرى عند وصوله.',
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
  lostTitle: '{amount} tutarındaki ödemeniz şu anda geçerli değil',
  lostIntro:
    'Ağ, {merchant} satıcısına yaptığınız ödemenin bulunduğu bloğu geri aldı. Aynı işlem kendiliğinden yeniden gelmedikçe para geldiği yere dönmüştür; işlem gelirse ödeme yeniden geçerli olur. Bir daha ödemeden önce ödemeyi açın: gerekli olup olmadığını gösterir.',
  refundLostTitle: '{amount} tutarındaki iadeniz henüz size ulaşmadı',
  refundLostIntro:
    'Ağ, {merchant} satıcısından gelen iadenizin bulunduğu bloğu geri aldı. İadenin yeniden gönderilmesi gerekiyor; ulaştığında bir e-posta daha alırsınız.',
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
