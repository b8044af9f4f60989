/** The words of the page about money that has to go back, besides those of the hosted page. `{name}` is filled in. */
const en = {
  title: 'Money that has to go back',
  intro:
    'What reaches a deposit address of this payment and does not pay it goes back to the address that was named before anything was sent. Nobody can change that address, neither you nor the merchant.',
  nothing: 'No deposit address was given out for this payment.',
  place: 'Deposit address on {network}',
  goesTo: 'Goes back to',
  goes: '{amount}, {why}: goes back by itself',
  waits: '{amount}, {why}: goes back by itself after {time}, unless the merchant accepts it',
  accepted: '{amount}, {why}: accepted as the payment',
  back: '{amount}, {why}: went back',
  small:
    'Little money does not go back by itself, nor do coins and tokens that are not offered here. Anybody can send them back with a wallet.',
  token: 'What was sent',
  coin: 'The coin of the network',
  other: 'Another token',
  contract: 'Address of the token’s contract',
  look: 'Look what lies there',
  lies: '{amount} lies there.',
  empty: 'Nothing of it lies there.',
  later: 'The contract lets it go after {time}.',
  sendBack: 'Send it back with {wallet}',
  walletHint: 'Any wallet can do it and pays the gas alone. The money goes to the address above.',
  sent: 'Sent. It is back once {network} has confirmed it.',
  reclaim:
    'If the merchant has not received your payment by {time}, the wallet {address} can take it back here.',
  takeBack: 'Take the payment back',
  noScript: 'Allow scripts for this page to send it back yourself.',
  toPayment: 'To the payment',
};

/** The words of one language. */
export type ClaimTexts = { readonly [Name in keyof typeof en]: string };

const de: ClaimTexts = {
  title: 'Geld, das zurückgehen muss',
  intro:
    'Was an einer Einzahlungsadresse dieser Zahlung eintrifft und sie nicht bezahlt, geht an die Adresse zurück, die vor dem Senden genannt wurde. Niemand kann sie ändern, weder Sie noch der Händler.',
  nothing: 'Für diese Zahlung wurde keine Einzahlungsadresse ausgegeben.',
  place: 'Einzahlungsadresse auf {network}',
  goesTo: 'Geht zurück an',
  goes: '{amount}, {why}: geht von selbst zurück',
  waits: '{amount}, {why}: geht nach {time} von selbst zurück, wenn der Händler es nicht annimmt',
  accepted: '{amount}, {why}: als Zahlung angenommen',
  back: '{amount}, {why}: ist zurückgegangen',
  small:
    'Kleine Beträge gehen nicht von selbst zurück, ebenso wenig Münzen und Token, die hier nicht angeboten werden. Jeder kann sie mit einer Wallet zurücksenden.',
  token: 'Was gesendet wurde',
  coin: 'Die Münze des Netzwerks',
  other: 'Ein anderer Token',
  contract: 'Adresse des Token-Vertrags',
  look: 'Nachsehen, was dort liegt',
  lies: 'Dort liegen {amount}.',
  empty: 'Davon liegt dort nichts.',
  later: 'Der Vertrag gibt es nach {time} frei.',
  sendBack: 'Zurücksenden mit {wallet}',
  walletHint: 'Jede Wallet kann das und zahlt nur das Gas. Das Geld geht an die Adresse oben.',
  sent: 'Gesendet. Es ist zurück, sobald {network} es bestätigt hat.',
  reclaim:
    'Hat der Händler Ihre Zahlung bis {time} nicht erhalten, kann die Wallet {address} sie hier zurückholen.',
  takeBack: 'Zahlung zurückholen',
  noScript: 'Erlauben Sie Skripte für diese Seite, um es selbst zurückzusenden.',
  toPayment: 'Zur Zahlung',
};

const fr: ClaimTexts = {
  title: 'Argent à restituer',
  intro:
    'Ce qui arrive à une adresse de dépôt de ce paiement sans le payer repart vers l’adresse indiquée avant l’envoi. Personne ne peut changer cette adresse, ni vous ni le marchand.',
  nothing: 'Aucune adresse de dépôt n’a été donnée pour ce paiement.',
  place: 'Adresse de dépôt sur {network}',
  goesTo: 'Repart vers',
  goes: '{amount}, {why} : repart de lui-même',
  waits: '{amount}, {why} : repart de lui-même après {time}, sauf si le marchand l’accepte',
  accepted: '{amount}, {why} : accepté comme paiement',
  back: '{amount}, {why} : restitué',
  small:
    'Les petites sommes ne repartent pas d’elles-mêmes, ni les monnaies et jetons non proposés ici. N’importe qui peut les renvoyer avec un portefeuille.',
  token: 'Ce qui a été envoyé',
  coin: 'La monnaie du réseau',
  other: 'Un autre jeton',
  contract: 'Adresse du contrat du jeton',
  look: 'Voir ce qui s’y trouve',
  lies: '{amount} s’y trouvent.',
  empty: 'Il n’y a rien de cela.',
  later: 'Le contrat le libère après {time}.',
  sendBack: 'Renvoyer avec {wallet}',
  walletHint:
    'N’importe quel portefeuille peut le faire et ne paie que le gaz. L’argent va à l’adresse ci-dessus.',
  sent: 'Envoyé. L’argent est revenu dès que {network} l’a confirmé.',
  reclaim:
    'Si le marchand n’a pas reçu votre paiement avant {time}, le portefeuille {address} peut le reprendre ici.',
  takeBack: 'Reprendre le paiement',
  noScript: 'Autorisez les scripts pour cette page afin de le renvoyer vous-même.',
  toPayment: 'Vers le paiement',
};

const es: ClaimTexts = {
  title: 'Dinero que debe volver',
  intro:
    'Lo que llega a una dirección de depósito de este pago y no lo paga vuelve a la dirección que se indicó antes de enviar. Nadie puede cambiarla, ni usted ni el comercio.',
  nothing: 'No se dio ninguna dirección de depósito para este pago.',
  place: 'Dirección de depósito en {network}',
  goesTo: 'Vuelve a',
  goes: '{amount}, {why}: vuelve solo',
  waits: '{amount}, {why}: vuelve solo después de {time}, salvo que el comercio lo acepte',
  accepted: '{amount}, {why}: aceptado como pago',
  back: '{amount}, {why}: ha vuelto',
  small:
    'Las cantidades pequeñas no vuelven solas, ni las monedas y tokens que aquí no se ofrecen. Cualquiera puede devolverlos con una cartera.',
  token: 'Qué se envió',
  coin: 'La moneda de la red',
  other: 'Otro token',
  contract: 'Dirección del contrato del token',
  look: 'Ver qué hay allí',
  lies: 'Allí hay {amount}.',
  empty: 'Allí no hay nada de eso.',
  later: 'El contrato lo libera después de {time}.',
  sendBack: 'Devolver con {wallet}',
  walletHint: 'Cualquier cartera puede hacerlo y solo paga el gas. El dinero va a la dirección de arriba.',
  sent: 'Enviado. Habrá vuelto cuando {network} lo confirme.',
  reclaim:
    'Si el comercio no ha recibido su pago antes de {time}, la cartera {address} puede recuperarlo aquí.',
  takeBack: 'Recuperar el pago',
  noScript: 'Permita scripts en esta página para devolverlo usted mismo.',
  toPayment: 'Al pago',
};

const pt: ClaimTexts = {
  title: 'Dinheiro que tem de voltar',
  intro:
    'O que chega a um endereço de depósito deste pagamento e não o paga volta para o endereço indicado antes do envio. Ninguém pode mudar esse endereço, nem você nem o comerciante.',
  nothing: 'Nenhum endereço de depósito foi dado para este pagamento.',
  place: 'Endereço de depósito em {network}',
  goesTo: 'Volta para',
  goes: '{amount}, {why}: volta sozinho',
  waits: '{amount}, {why}: volta sozinho depois de {time}, a menos que o comerciante o aceite',
  accepted: '{amount}, {why}: aceite como pagamento',
  back: '{amount}, {why}: voltou',
  small:
    'Valores pequenos não voltam sozinhos, nem moedas e tokens que não são oferecidos aqui. Qualquer pessoa pode devolvê-los com uma carteira.',
  token: 'O que foi enviado',
  coin: 'A moeda da rede',
  other: 'Outro token',
  contract: 'Endereço do contrato do token',
  look: 'Ver o que está lá',
  lies: 'Estão lá {amount}.',
  empty: 'Não está lá nada disso.',
  later: 'O contrato liberta-o depois de {time}.',
  sendBack: 'Devolver com {wallet}',
  walletHint: 'Qualquer carteira pode fazê-lo e paga só o gás. O dinheiro vai para o endereço acima.',
  sent: 'Enviado. Terá voltado quando {network} confirmar.',
  reclaim:
    'Se o comerciante não receber o seu pagamento até {time}, a carteira {address} pode recuperá-lo aqui.',
  takeBack: 'Recuperar o pagamento',
  noScript: 'Permita scripts nesta página para o devolver você mesmo.',
  toPayment: 'Para o pagamento',
};

const it: ClaimTexts = {
  title: 'Denaro da restituire',
  intro:
    'Ciò che arriva a un indirizzo di deposito di questo pagamento e non lo paga torna all’indirizzo indicato prima dell’invio. Nessuno può cambiarlo, né Lei né il venditore.',
  nothing: 'Per questo pagamento non è stato dato alcun indirizzo di deposito.',
  place: 'Indirizzo di deposito su {network}',
  goesTo: 'Torna a',
  goes: '{amount}, {why}: torna da solo',
  waits: '{amount}, {why}: torna da solo dopo {time}, a meno che il venditore lo accetti',
  accepted: '{amount}, {why}: accettato come pagamento',
  back: '{amount}, {why}: è tornato',
  small:
    'Le piccole somme non tornano da sole, né le monete e i token che qui non sono offerti. Chiunque può rimandarli con un wallet.',
  token: 'Che cosa è stato inviato',
  coin: 'La moneta della rete',
  other: 'Un altro token',
  contract: 'Indirizzo del contratto del token',
  look: 'Guarda che cosa c’è',
  lies: 'Ci sono {amount}.',
  empty: 'Non c’è nulla di ciò.',
  later: 'Il contratto lo libera dopo {time}.',
  sendBack: 'Rimanda con {wallet}',
  walletHint: 'Qualsiasi wallet può farlo e paga solo il gas. Il denaro va all’indirizzo qui sopra.',
  sent: 'Inviato. Sarà tornato quando {network} lo avrà confermato.',
  reclaim:
    'Se il venditore non ha ricevuto il pagamento entro {time}, il wallet {address} può riprenderlo qui.',
  takeBack: 'Riprendi il pagamento',
  noScript: 'Consenta gli script in questa pagina per rimandarlo da sé.',
  toPayment: 'Al pagamento',
};

const ja: ClaimTexts = {
  title: '返金されるお金',
  intro:
    'この支払いの入金アドレスに届き、支払いにならなかったものは、送金前に指定されたアドレスへ戻ります。このアドレスは、あなたも加盟店も変更できません。',
  nothing: 'この支払いの入金アドレスは発行されていません。',
  place: '{network} の入金アドレス',
  goesTo: '返金先',
  goes: '{amount}、{why}：自動で返金されます',
  waits: '{amount}、{why}：加盟店が受け入れない限り、{time} 以降に自動で返金されます',
  accepted: '{amount}、{why}：支払いとして受け入れられました',
  back: '{amount}、{why}：返金されました',
  small:
    '少額や、ここで扱っていないコイン・トークンは自動では戻りません。ウォレットがあれば誰でも送り返せます。',
  token: '送ったもの',
  coin: 'ネットワークのコイン',
  other: '別のトークン',
  contract: 'トークンのコントラクトアドレス',
  look: '残高を確認',
  lies: '{amount} があります。',
  empty: 'そこには何もありません。',
  later: 'コントラクトは {time} 以降に返金を許可します。',
  sendBack: '{wallet} で送り返す',
  walletHint: 'どのウォレットでも実行でき、ガス代だけを払います。お金は上のアドレスへ届きます。',
  sent: '送信しました。{network} で承認されると返金されます。',
  reclaim: '{time} までに加盟店が受け取っていない場合、ウォレット {address} はここで支払いを取り戻せます。',
  takeBack: '支払いを取り戻す',
  noScript: '自分で送り返すには、このページのスクリプトを許可してください。',
  toPayment: '支払いへ',
};

const zh: ClaimTexts = {
  title: '需要退回的款项',
  intro:
    '到达此付款的充值地址但未完成付款的款项，会退回到汇款前指定的地址。任何人都无法更改该地址，您和商家都不能。',
  nothing: '此付款没有发放过充值地址。',
  place: '{network} 上的充值地址',
  goesTo: '退回到',
  goes: '{amount}，{why}：将自动退回',
  waits: '{amount}，{why}：除非商家接受，否则在 {time} 之后自动退回',
  accepted: '{amount}，{why}：已作为付款接受',
  back: '{amount}，{why}：已退回',
  small: '小额款项，以及此处不支持的币和代币不会自动退回。任何人都可以用钱包把它们退回。',
  token: '汇出的是什么',
  coin: '该网络的原生币',
  other: '其他代币',
  contract: '代币合约地址',
  look: '查看余额',
  lies: '那里有 {amount}。',
  empty: '那里没有这种款项。',
  later: '合约在 {time} 之后允许退回。',
  sendBack: '用 {wallet} 退回',
  walletHint: '任何钱包都可以操作，只需支付燃料费。款项会到达上面的地址。',
  sent: '已发送。{network} 确认后即退回。',
  reclaim: '如果商家在 {time} 之前没有收到您的付款，钱包 {address} 可以在此取回。',
  takeBack: '取回付款',
  noScript: '请允许此页面运行脚本，以便自行退回。',
  toPayment: '前往付款',
};

const ar: ClaimTexts = {
  title: 'مال يجب أن يعود',
  intro:
    'ما يصل إلى عنوان إيداع لهذه الدفعة ولا يسدّدها يعود إلى العنوان الذي ذُكر قبل الإرسال. لا يستطيع أحد تغيير هذا العنوان، لا أنت ولا التاجر.',
  nothing: 'لم يُعطَ عنوان إيداع لهذه الدفعة.',
  place: 'عنوان الإيداع على {network}',
  goesTo: 'يعود إلى',
  goes: '{amount}، {why}: يعود تلقائيًا',
  waits: '{amount}، {why}: يعود تلقائيًا بعد {time} ما لم يقبله التاجر',
  accepted: '{amount}، {why}: قُبل كدفعة',
  back: '{amount}، {why}: عاد',
  small:
    'المبالغ الصغيرة لا تعود تلقائيًا، ولا العملات والرموز غير المعروضة هنا. يستطيع أي شخص إعادتها بمحفظة.',
  token: 'ما الذي أُرسل',
  coin: 'عملة الشبكة',
  other: 'رمز آخر',
  contract: 'عنوان عقد الرمز',
  look: 'انظر ما الموجود هناك',
  lies: 'يوجد هناك {amount}.',
  empty: 'لا يوجد هناك شيء منه.',
  later: 'يسمح العقد بإعادته بعد {time}.',
  sendBack: 'أعده باستخدام {wallet}',
  walletHint: 'تستطيع أي محفظة فعل ذلك ولا تدفع إلا رسوم الغاز. يذهب المال إلى العنوان أعلاه.',
  sent: 'أُرسل. يعود بعد أن تؤكده {network}.',
  reclaim: 'إذا لم يتسلّم التاجر دفعتك حتى {time}، تستطيع المحفظة {address} استعادتها هنا.',
  takeBack: 'استعد الدفعة',
  noScript: 'اسمح بالنصوص البرمجية في هذه الصفحة لتعيده بنفسك.',
  toPayment: 'إلى الدفعة',
};

const tr: ClaimTexts = {
  title: 'Geri dönmesi gereken para',
  intro:
    'Bu ödemenin yatırma adresine gelip ödemeyi karşılamayan para, gönderilmeden önce belirtilen adrese geri döner. Bu adresi kimse değiştiremez, ne siz ne de satıcı.',
  nothing: 'Bu ödeme için yatırma adresi verilmedi.',
  place: '{network} üzerindeki yatırma adresi',
  goesTo: 'Geri döneceği adres',
  goes: '{amount}, {why}: kendiliğinden geri döner',
  waits: '{amount}, {why}: satıcı kabul etmezse {time} sonrasında kendiliğinden geri döner',
  accepted: '{amount}, {why}: ödeme olarak kabul edildi',
  back: '{amount}, {why}: geri döndü',
  small:
    'Küçük tutarlar kendiliğinden dönmez; burada sunulmayan paralar ve tokenlar da dönmez. Bir cüzdanla herkes geri gönderebilir.',
  token: 'Ne gönderildi',
  coin: 'Ağın parası',
  other: 'Başka bir token',
  contract: 'Token sözleşmesinin adresi',
  look: 'Orada ne var, bak',
  lies: 'Orada {amount} var.',
  empty: 'Orada ondan hiç yok.',
  later: 'Sözleşme {time} sonrasında izin verir.',
  sendBack: '{wallet} ile geri gönder',
  walletHint: 'Her cüzdan yapabilir ve yalnızca gaz öder. Para yukarıdaki adrese gider.',
  sent: 'Gönderildi. {network} onayladığında geri dönmüş olur.',
  reclaim: 'Satıcı ödemenizi {time} tarihine kadar almadıysa {address} cüzdanı onu buradan geri alabilir.',
  takeBack: 'Ödemeyi geri al',
  noScript: 'Kendiniz geri göndermek için bu sayfada betiklere izin verin.',
  toPayment: 'Ödemeye git',
};

/** By the tags of the languages. */
export const claimTexts: Readonly<Record<string, ClaimTexts>> = { en, de, fr, es, pt, it, ja, zh, ar, tr };
