import type { RefundSigning } from '@florin/protocol/refund-signing-api.ts';

/** Who asked the wallet, as the subject of a sentence. */
export function signerOf({ isMine, memberName }: RefundSigning): string {
  return isMine ? 'You' : memberName || 'A former member or another tool';
}
