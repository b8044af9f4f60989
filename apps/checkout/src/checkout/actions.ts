import type { Model } from './model.ts';
import type { Wallet } from './wallet-type.ts';

/** An input element, also for the server, which has no type for it. */
export interface AmountField {
  value: string;
}

/** What was clicked, also for the server. */
interface Clicked {
  matches(selector: string): boolean;
  closest(selector: string): unknown;
}

/** The payer's actions on the page. On the server they are absent. */
export interface Actions {
  readonly connect: (wallet: Wallet) => void;
  readonly openWays: () => void;
  /** Closes the sheet, unless a click inside it chose nothing. */
  readonly closeWays: (event: { readonly target: Clicked; readonly detail: number }) => void;
  readonly choose: (tokenId: string) => void;
  readonly chooseSource: (source: Model['source']) => void;
  readonly pay: () => void;
  readonly payPlainly: () => void;
  readonly cancel: () => void;
  readonly askAgain: () => void;
  /** Copies the address of this page. */
  readonly copyPage: () => void;
  /** Shows a code of this session for another device. */
  readonly showCode: () => void;
  readonly showDeposit: () => void;
  readonly typeAmount: (field: AmountField) => void;
  readonly leaveAmount: (field: AmountField) => void;
  readonly typeEmail: (field: AmountField) => void;
}

const ignore = () => undefined;

/** For pages without their script. */
export const noActions: Actions = {
  connect: ignore,
  openWays: ignore,
  closeWays: ignore,
  choose: ignore,
  chooseSource: ignore,
  pay: ignore,
  payPlainly: ignore,
  cancel: ignore,
  askAgain: ignore,
  copyPage: ignore,
  showCode: ignore,
  showDeposit: ignore,
  typeAmount: ignore,
  leaveAmount: ignore,
  typeEmail: ignore,
};
