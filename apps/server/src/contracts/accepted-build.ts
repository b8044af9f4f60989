import type { Hex } from '@florin/protocol/order.ts';
import { keccak256 } from 'viem';
import { type Artifact, isCodeOf, maskImmutables, readArtifact } from './contract-plan.ts';

/** A contract's code in an earlier release. */
export interface EarlierBuild {
  /** Keccak-256 of the code with zeros in place of the constructor's values. */
  readonly codeHash: Hex;
  readonly immutableReferences: Artifact['immutableReferences'];
}

/** The contracts that an operator configures. */
export type ConfiguredContract = 'PaymentGateway' | 'PayoutVault' | 'CctpRoute';

/**
 * The builds before this release's with which the service works, in the present format of orders. A release that changes
 * a contract which stands on a public chain adds the former build. None stands on one yet.
 */
const earlierBuilds: Readonly<Record<ConfiguredContract, readonly EarlierBuild[]>> = {
  PaymentGateway: [],
  PayoutVault: [],
  CctpRoute: [],
};

/** Whether code of a chain is the contract of this release or of an earlier one that is still served. */
export function isAcceptedBuild(
  name: ConfiguredContract,
  code: Hex,
  earlier: readonly EarlierBuild[] = earlierBuilds[name],
): boolean {
  return (
    isCodeOf(readArtifact(name), code) ||
    earlier.some(
      ({ codeHash, immutableReferences }) =>
        keccak256(`0x${maskImmutables(code, immutableReferences)}`) === codeHash,
    )
  );
}
