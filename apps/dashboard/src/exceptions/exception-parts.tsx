import type { PaymentException } from '@florin/protocol/exception.ts';
import type { ReplyTo } from '../api/call.ts';
import { serviceNow } from '../api/service-clock.ts';
import { Badge } from '../ui/badge.tsx';
import { Tokens } from '../ui/value.tsx';
import { exceptionState } from './exception-state.ts';

export type ExceptionToken = ReplyTo<'GET /token/list'>['tokens'][number];

/** The money in question, in its token. */
export function ExceptionAmount({
  amountInToken,
  tokenId,
  token,
}: Pick<PaymentException, 'amountInToken' | 'tokenId'> & { readonly token: ExceptionToken | undefined }) {
  if (token === undefined) return `${amountInToken} units of ${tokenId}`;
  return <Tokens units={amountInToken} decimals={token.decimals} symbol={token.symbol} />;
}

/** The state as a badge. */
export function ExceptionBadge({ exception }: { readonly exception: PaymentException }) {
  const { tone, text } = exceptionState(exception, new Date(serviceNow()));
  return <Badge tone={tone}>{text}</Badge>;
}
