import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { type Abi, encodeFunctionData } from 'viem';
import type { ContractCall } from './contract-plan.ts';

/** The keys that work on an operator's contracts. The controller sets and changes them. */
export interface ContractRoles {
  readonly orderSigner: Hex;
  readonly settler: Hex;
  readonly guardian: Hex;
  readonly feeRecipient: Hex;
}

/** One value of a contract: the controller's call that sets it, and how it is read back. */
export interface RoleSetting extends ContractCall {
  /** Such as `the gateway's guardian`. */
  readonly what: string;
  readonly abi: Abi;
  readonly read: string;
  readonly args: readonly unknown[];
  readonly wanted: Hex | boolean;
}

/** A function's name with its arguments. */
type Call = readonly [functionName: string, ...args: unknown[]];

/**
 * What makes new contracts work, in the order in which their controller sets it. The guardian comes last: a contract that
 * has one was set up before, and what differs there is a person's decision.
 */
export function roleSettings(
  { gateway, vault }: { readonly gateway: Hex; readonly vault: Hex },
  { orderSigner, settler, guardian, feeRecipient }: ContractRoles,
): readonly RoleSetting[] {
  const settingOf =
    (to: Hex, abi: Abi) =>
    (what: string, [read, ...args]: Call, [functionName, ...values]: Call, wanted: Hex | boolean) => {
      const data = encodeFunctionData({ abi, functionName, args: values });
      return { what, to, abi, read, args, wanted, data };
    };
  const onGateway = settingOf(gateway, paymentGatewayAbi as Abi);
  const onVault = settingOf(vault, payoutVaultAbi as Abi);
  const shared = (name: string, setting: typeof onGateway) => [
    setting(
      `${settler} as settler of the ${name}`,
      ['isSettler', settler],
      ['setSettler', settler, true],
      true,
    ),
    setting(`the ${name}'s pause`, ['paused'], ['unpause'], false),
    setting(`the ${name}'s guardian`, ['guardian'], ['setGuardian', guardian], guardian),
  ];
  return [
    onGateway(
      "the gateway's fee recipient",
      ['feeRecipient'],
      ['setFeeRecipient', feeRecipient],
      feeRecipient,
    ),
    onGateway(
      `${orderSigner} as order signer of the gateway`,
      ['isSigner', orderSigner],
      ['setSigner', orderSigner, true],
      true,
    ),
    ...shared('gateway', onGateway),
    onVault(
      `${orderSigner} as signer of the vault`,
      ['isSigner', orderSigner],
      ['setSigner', orderSigner, true],
      true,
    ),
    ...shared('vault', onVault),
  ];
}
