import type { ClaimTexts } from './en.ts';

export const claimPt: ClaimTexts = {
  title: 'Dinheiro no endereço de depósito',
  intro:
    'O dinheiro que chega a um endereço de depósito e não pode ser usado para este pagamento só pode voltar para o endereço de reembolso informado antes. Nem você nem o comerciante podem mudar esse endereço.',
  nothing: 'Este pagamento não tem endereço de depósito.',
  place: 'Endereço de depósito em {network}',
  others: 'Outros endereços, talvez de outra pessoa: {count}',
  goesTo: 'Volta para',
  accepted: 'Um valor de {amount} {why}, mas é aceito como pagamento.',
  arrived: 'Chegaram {amount}.',
  counts: 'Contam para este pagamento se os {rest} que faltam chegarem aqui até {time}.',
  countsApart: 'Só contam para este pagamento se o resto chegar aqui até {time}.',
  countsEnough: 'É suficiente. Torna-se o pagamento.',
  elseGoes: 'Caso contrário, voltam automaticamente depois disso.',
  elseWaits: 'Caso contrário, voltam automaticamente depois de {time}, a menos que o comerciante os aceite.',
  elseByHand: 'Caso contrário, ficam aqui, e qualquer carteira pode devolvê-los abaixo.',
  elseHeld:
    'Caso contrário, o comerciante pode aceitá-los até {time}. Depois qualquer carteira pode devolvê-los abaixo.',
  allByHand: 'No momento, nada volta automaticamente aqui. Qualquer carteira pode devolver o dinheiro.',
  small:
    'Menos de {least} não volta automaticamente. O mesmo vale para moedas e tokens que não são oferecidos aqui e para dinheiro que chega mais de uma semana depois do prazo de pagamento. Qualquer carteira pode devolvê-lo.',
  token: 'O que foi enviado',
  coin: 'A moeda nativa da rede',
  other: 'Outro token',
  contract: 'Endereço do contrato do token',
  look: 'Ver o que há lá',
  lies: 'Há {amount} lá.',
  empty: 'Não há nada desse token lá.',
  later: 'O contrato o libera depois de {time}.',
  sendBack: 'Devolver com {wallet}',
  walletHint:
    'Qualquer carteira pode fazer isso e paga só a taxa de rede. O dinheiro vai para o endereço acima.',
  confirm: 'Confirme na sua carteira.',
  walletCannotSend: 'Esta carteira não consegue enviar por esta página. Use outra carteira.',
  failed: 'Sua carteira indica um erro. Se ela não enviou nada, tente de novo.',
  sent: 'Enviado. O dinheiro volta assim que {network} confirmar.',
  reclaim:
    'Se o comerciante não receber seu pagamento até {time}, ele volta para {address}. Qualquer carteira pode devolvê-lo aqui.',
  takeBack: 'Recuperar o pagamento',
  noScript: 'Para devolver você mesmo, permita scripts nesta página.',
  toPayment: 'Para o pagamento',
  refused: 'Isso não é possível agora. Tente mais tarde.',
};
