import type { ClaimTexts } from './en.ts';

export const claimTr: ClaimTexts = {
  title: 'Yatırma adresindeki para',
  intro:
    'Bir yatırma adresine ulaşıp bu ödeme için kullanılamayan para, yalnızca önceden girilen iade adresine geri dönebilir. Bu adresi ne siz ne de satıcı değiştirebilir.',
  nothing: 'Bu ödemenin yatırma adresi yok.',
  place: '{network} üzerindeki yatırma adresi',
  others: 'Diğer adresler, sizin olmayabilir: {count}',
  goesTo: 'Geri döneceği adres',
  accepted: '{amount} {why} ama yine de ödeme olarak kabul edildi.',
  arrived: '{amount} ulaştı.',
  counts: 'Eksik {rest} buraya {time} tarihine kadar ulaşırsa bu ödemeye sayılır.',
  countsApart: 'Yalnızca kalanı buraya {time} tarihine kadar ulaşırsa bu ödemeye sayılır.',
  countsEnough: 'Bu yeterli. Ödeme olarak alınır.',
  elseGoes: 'Aksi halde sonra otomatik olarak geri döner.',
  elseWaits: 'Aksi halde satıcı kabul etmezse {time} sonrasında otomatik olarak geri döner.',
  elseByHand: 'Aksi halde burada kalır ve her cüzdan aşağıda geri gönderebilir.',
  elseHeld:
    'Aksi halde satıcı {time} tarihine kadar kabul edebilir. Sonra her cüzdan aşağıda geri gönderebilir.',
  allByHand: 'Şu anda burada hiçbir şey otomatik olarak geri dönmez. Her cüzdan parayı geri gönderebilir.',
  small:
    '{least} tutarından azı otomatik olarak geri dönmez. Burada sunulmayan coin ve tokenlar ile ödeme süresinden bir haftadan fazla sonra ulaşan para için de aynısı geçerlidir. Her cüzdan geri gönderebilir.',
  token: 'Ne gönderildi',
  coin: 'Ağın kendi coini',
  other: 'Başka bir token',
  contract: 'Token sözleşmesinin adresi',
  look: 'Orada ne olduğunu göster',
  lies: 'Orada {amount} var.',
  empty: 'Orada bu tokendan yok.',
  later: 'Sözleşme bunu {time} sonrasında serbest bırakır.',
  sendBack: '{wallet} ile geri gönder',
  walletHint: 'Her cüzdan bunu yapabilir ve yalnızca ağ ücretini öder. Para yukarıdaki adrese gider.',
  confirm: 'Cüzdanınızda onaylayın.',
  walletCannotSend: 'Bu cüzdan bu sayfadan gönderim yapamıyor. Başka bir cüzdan kullanın.',
  failed: 'Cüzdanınız bir hata bildirdi. Hiçbir şey göndermediyse yeniden deneyin.',
  sent: 'Gönderildi. {network} onaylayınca geri dönmüş olur.',
  reclaim:
    'Satıcı ödemenizi {time} tarihine kadar almadıysa ödeme {address} adresine geri döner. Her cüzdan onu buradan geri gönderebilir.',
  takeBack: 'Ödemeyi geri al',
  noScript: 'Kendiniz geri göndermek için bu sayfada betiklere izin verin.',
  toPayment: 'Ödemeye git',
  refused: 'Bu şu anda mümkün değil. Daha sonra yeniden deneyin.',
};
