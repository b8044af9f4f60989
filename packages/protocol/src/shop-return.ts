import Type, { type Static } from 'typebox';
import { httpsUrl } from './schema.ts';

/** When the page sends a payer back to the shop by itself. */
export const autoReturns = ['never', 'paid'] as const;
export type AutoReturn = (typeof autoReturns)[number];

/** Whether the payment is still open, its session has ended, a block has it, or it is final. */
export type ReturnStatus = 'open' | 'expired' | 'cancelled' | 'processing' | 'paid';

const cancelDescription =
  'Where payers go back to who have not paid: while the session is open, and once it has expired or was cancelled. `{SESSION_ID}` is replaced, and `florin_status` added: `open`, `expired` or `cancelled`';
const autoReturnDescription =
  '`paid`: five seconds after the payment is final, the page opens successUrl, unless the payer stops it; `never`: only the payer does';

/** What a request says about the ways back to the shop. */
export const returnBody = {
  cancelUrl: Type.Optional(
    Type.Union([Type.Literal(''), httpsUrl(1000)], { description: cancelDescription }),
  ),
  autoReturn: Type.Optional(
    Type.Enum(autoReturns, { description: `${autoReturnDescription}. Default: paid` }),
  ),
} as const;

/** The same as reads show it. Defaults are left out. */
export const returnView = {
  cancelUrl: Type.Optional(Type.String({ description: `${cancelDescription}. Absent without one` })),
  autoReturn: Type.Optional(
    Type.Enum(autoReturns, { description: `${autoReturnDescription}. Absent where it is paid` }),
  ),
} as const;

/** The ways back to the shop as they are stored; without a cancelUrl it is empty. */
export interface ShopReturn {
  readonly cancelUrl: string;
  readonly autoReturn: AutoReturn;
}

/** What a request says, with its defaults. */
export function shopReturnOf(body: {
  readonly cancelUrl?: Static<typeof returnBody.cancelUrl>;
  readonly autoReturn?: AutoReturn;
}): ShopReturn {
  return { cancelUrl: body.cancelUrl ?? '', autoReturn: body.autoReturn ?? 'paid' };
}

/** Without the defaults, as reads and versions of links have it. */
export function withoutDefaults({ cancelUrl, autoReturn }: ShopReturn): Partial<ShopReturn> {
  return {
    ...(cancelUrl === '' ? {} : { cancelUrl }),
    ...(autoReturn === 'paid' ? {} : { autoReturn }),
  };
}

/** A merchant's URL for one session: with its id, which is empty before there is one, and its status. */
export function returnUrlOf(url: string, sessionId: string, status: ReturnStatus): string {
  const [place = '', ...fragment] = url.replaceAll('{SESSION_ID}', encodeURIComponent(sessionId)).split('#');
  const marked = `${place}${place.includes('?') ? '&' : '?'}florin_status=${status}`;
  return [marked, ...fragment].join('#');
}
