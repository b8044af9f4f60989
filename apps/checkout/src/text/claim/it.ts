import type { ClaimTexts } from './en.ts';

export const claimIt: ClaimTexts = {
  title: 'Denaro all’indirizzo di deposito',
  intro:
    'Il denaro che arriva a un indirizzo di deposito e non si può usare per questo pagamento può tornare soltanto all’indirizzo di rimborso indicato prima. Né tu né il venditore potete cambiarlo.',
  nothing: 'Questo pagamento non ha un indirizzo di deposito.',
  place: 'Indirizzo di deposito su {network}',
  others: 'Altri indirizzi, forse non tuoi: {count}',
  goesTo: 'Torna a',
  accepted: 'Un importo di {amount} {why}, ma è accettato come pagamento.',
  arrived: 'Sono arrivati {amount}.',
  counts: 'Valgono per questo pagamento se i {rest} mancanti arrivano qui entro {time}.',
  countsApart: 'Valgono per questo pagamento solo se il resto arriva qui entro {time}.',
  countsEnough: 'È sufficiente. Diventa il pagamento.',
  elseGoes: 'Altrimenti poi tornano automaticamente.',
  elseWaits: 'Altrimenti tornano automaticamente dopo {time}, a meno che il venditore non li accetti.',
  elseByHand: 'Altrimenti restano qui, e qualsiasi wallet può restituirli qui sotto.',
  elseHeld:
    'Altrimenti il venditore può accettarli fino a {time}. Poi qualsiasi wallet può restituirli qui sotto.',
  allByHand: 'Al momento qui nulla torna automaticamente. Qualsiasi wallet può restituire il denaro.',
  small:
    'Meno di {least} non torna automaticamente. Lo stesso vale per le monete e i token non offerti qui e per il denaro che arriva più di una settimana dopo il termine di pagamento. Qualsiasi wallet può restituirlo.',
  token: 'Che cosa è stato inviato',
  coin: 'La moneta nativa della rete',
  other: 'Un altro token',
  contract: 'Indirizzo del contratto del token',
  look: 'Mostra che cosa c’è',
  lies: 'Importo presente: {amount}.',
  empty: 'Non ce n’è.',
  later: 'Il contratto lo libera dopo {time}.',
  sendBack: 'Restituisci con {wallet}',
  walletHint:
    'Qualsiasi wallet può farlo e paga solo la commissione di rete. Il denaro va all’indirizzo qui sopra.',
  confirm: 'Conferma nel tuo wallet.',
  walletCannotSend: 'Questo wallet non può inviare da questa pagina. Usa un altro wallet.',
  failed: 'Il tuo wallet segnala un errore. Se non ha inviato nulla, riprova.',
  sent: 'Inviato. Sarà tornato quando {network} lo avrà confermato.',
  reclaim:
    'Se il venditore non ha ricevuto il pagamento entro {time}, torna a {address}. Qualsiasi wallet può restituirlo qui.',
  takeBack: 'Recupera il pagamento',
  noScript: 'Per restituirlo da te, consenti gli script in questa pagina.',
  toPayment: 'Al pagamento',
  refused: 'Al momento non è possibile. Riprova più tardi.',
};
