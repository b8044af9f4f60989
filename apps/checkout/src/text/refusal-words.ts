import type { Texts } from './en.ts';

/** The pages' words for the error codes (packages/protocol/src/error.ts). The server says them. */
export const refusalWords: Readonly<Record<number, keyof Texts>> = {
  100101: 'changed',
  100102: 'changed',
  100103: 'disabledHint',
  100104: 'changed',
  100202: 'secretWrong',
  100203: 'timeOver',
  100204: 'notNeeded',
  100205: 'cancelledHint',
  100206: 'wrongPayer',
  100209: 'amountRefused',
  100303: 'changed',
  100304: 'changed',
  100608: 'noRoute',
  100610: 'emailMissing',
  100611: 'refundLost',
  100612: 'noRoute',
  100613: 'notNeeded',
  900101: 'tooOften',
  900401: 'wayFails',
};
