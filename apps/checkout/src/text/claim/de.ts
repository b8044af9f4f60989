import type { ClaimTexts } from './en.ts';

export const claimDe: ClaimTexts = {
  title: 'Geld an der Einzahlungsadresse',
  intro:
    'Geld, das an einer Einzahlungsadresse ankommt und nicht für diese Zahlung verwendet werden kann, kann nur an die zuvor angegebene Erstattungsadresse zurückgehen. Weder Sie noch der Händler können diese Adresse ändern.',
  nothing: 'Diese Zahlung hat keine Einzahlungsadresse.',
  place: 'Einzahlungsadresse auf {network}',
  others: 'Andere Adressen, vielleicht nicht Ihre: {count}',
  goesTo: 'Geht zurück an',
  accepted: '{amount} {why}, werden aber als Zahlung angenommen.',
  arrived: '{amount} sind angekommen.',
  counts: 'Sie zählen für diese Zahlung, wenn die fehlenden {rest} bis zum {time} hier ankommen.',
  countsApart: 'Sie zählen für diese Zahlung nur, wenn der Rest bis zum {time} hier ankommt.',
  countsEnough: 'Das genügt. Daraus wird die Zahlung.',
  elseGoes: 'Sonst gehen sie danach automatisch zurück.',
  elseWaits: 'Sonst gehen sie nach dem {time} automatisch zurück, sofern der Händler sie nicht annimmt.',
  elseByHand: 'Sonst bleiben sie hier, und jede Wallet kann sie unten zurücksenden.',
  elseHeld:
    'Sonst kann der Händler sie bis zum {time} annehmen. Danach kann jede Wallet sie unten zurücksenden.',
  allByHand: 'Zurzeit geht hier nichts automatisch zurück. Jede Wallet kann Geld zurücksenden.',
  small:
    'Weniger als {least} geht nicht automatisch zurück. Dasselbe gilt für Coins und Token, die hier nicht angeboten werden, und für Geld, das mehr als eine Woche nach der Zahlungsfrist ankommt. Jede Wallet kann es zurücksenden.',
  token: 'Was gesendet wurde',
  coin: 'Der Coin des Netzwerks',
  other: 'Ein anderer Token',
  contract: 'Contract-Adresse des Tokens',
  look: 'Zeigen, was dort liegt',
  lies: 'Dort liegen {amount}.',
  empty: 'Davon liegt dort nichts.',
  later: 'Der Smart Contract gibt es nach dem {time} frei.',
  sendBack: 'Zurücksenden mit {wallet}',
  walletHint: 'Jede Wallet kann das und zahlt nur die Netzwerkgebühr. Das Geld geht an die Adresse oben.',
  confirm: 'Bestätigen Sie in Ihrer Wallet.',
  walletCannotSend: 'Diese Wallet kann von dieser Seite aus nicht senden. Verwenden Sie eine andere Wallet.',
  failed: 'Ihre Wallet meldet einen Fehler. Hat sie nichts gesendet, versuchen Sie es erneut.',
  sent: 'Gesendet. Es ist zurück, sobald {network} es bestätigt hat.',
  reclaim:
    'Hat der Händler Ihre Zahlung bis zum {time} nicht erhalten, geht sie an {address} zurück. Jede Wallet kann sie hier zurücksenden.',
  takeBack: 'Zahlung zurückholen',
  noScript: 'Um es selbst zurückzusenden, erlauben Sie Skripte für diese Seite.',
  toPayment: 'Zur Zahlung',
  refused: 'Das ist zurzeit nicht möglich. Versuchen Sie es später erneut.',
};
