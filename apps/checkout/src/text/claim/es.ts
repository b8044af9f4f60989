import type { ClaimTexts } from './en.ts';

export const claimEs: ClaimTexts = {
  title: 'Dinero en la dirección de depósito',
  intro:
    'El dinero que llega a una dirección de depósito y no se puede usar para este pago solo puede volver a la dirección de reembolso que se indicó antes. Ni usted ni el comercio pueden cambiarla.',
  nothing: 'Este pago no tiene dirección de depósito.',
  place: 'Dirección de depósito en {network}',
  others: 'Otras direcciones, quizá de otra persona: {count}',
  goesTo: 'Vuelve a',
  accepted: 'Un importe de {amount} {why}, pero se acepta como pago.',
  arrived: 'Han llegado {amount}.',
  counts: 'Cuentan para este pago si los {rest} que faltan llegan aquí antes del {time}.',
  countsApart: 'Solo cuentan para este pago si el resto llega aquí antes del {time}.',
  countsEnough: 'Es suficiente. Se convierte en el pago.',
  elseGoes: 'De lo contrario, vuelven después automáticamente.',
  elseWaits: 'De lo contrario, vuelven automáticamente después del {time}, salvo que el comercio los acepte.',
  elseByHand: 'De lo contrario, se quedan aquí, y cualquier monedero puede devolverlos abajo.',
  elseHeld:
    'De lo contrario, el comercio puede aceptarlos hasta el {time}. Después cualquier monedero puede devolverlos abajo.',
  allByHand: 'Por ahora nada vuelve automáticamente aquí. Cualquier monedero puede devolver el dinero.',
  small:
    'Menos de {least} no vuelve automáticamente. Lo mismo vale para las monedas y tokens que no se ofrecen aquí y para el dinero que llega más de una semana después del plazo de pago. Cualquier monedero puede devolverlo.',
  token: 'Qué se envió',
  coin: 'La moneda nativa de la red',
  other: 'Otro token',
  contract: 'Dirección del contrato del token',
  look: 'Ver qué hay allí',
  lies: 'Allí hay {amount}.',
  empty: 'Allí no hay nada de ese token.',
  later: 'El contrato lo libera después del {time}.',
  sendBack: 'Devolver con {wallet}',
  walletHint:
    'Cualquier monedero puede hacerlo y solo paga la comisión de red. El dinero va a la dirección de arriba.',
  confirm: 'Confirme en su monedero.',
  walletCannotSend: 'Este monedero no puede enviar desde esta página. Use otro monedero.',
  failed: 'Su monedero indica un error. Si no ha enviado nada, inténtelo de nuevo.',
  sent: 'Enviado. Habrá vuelto cuando {network} lo confirme.',
  reclaim:
    'Si el comercio no ha recibido su pago antes del {time}, vuelve a {address}. Cualquier monedero puede devolverlo aquí.',
  takeBack: 'Recuperar el pago',
  noScript: 'Para devolverlo por su cuenta, permita los scripts en esta página.',
  toPayment: 'Al pago',
  refused: 'Ahora no es posible. Inténtelo más tarde.',
};
