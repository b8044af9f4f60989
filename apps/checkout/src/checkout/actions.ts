import type { Edit } from './amount.ts';
import type { Wallet } from './wallet.ts';

/** The payer's actions on the page. */
export interface Actions {
  readonly connect: (wallet: Wallet) => void;
  readonly disconnect: () => void;
  readonly choose: (tokenId: string) => void;
  readonly pay: () => void;
  readonly payPlainly: () => void;
  readonly cancel: () => void;
  readonly askAgain: () => void;
  readonly copy: (text: string) => void;
  readonly showDeposit: () => void;
  readonly hideDeposit: () => void;
  readonly typeAmount: (field: HTMLInputElement, how: Edit) => void;
  readonly leaveAmount: (field: HTMLInputElement) => void;
}
