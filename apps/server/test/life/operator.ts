import type { Hex } from '@florin/protocol/order.ts';
import { type ContractCall, type ContractPlan, deploymentCall } from '#contracts/contract-plan.ts';
import { roleSettings } from '#contracts/contract-setup.ts';
import { addresses } from './roles.ts';

/** Deploys factory, gateway and vault of an operator, who sends the transactions, and sets them up for the service. */
export async function deployOperator(
  send: (call: ContractCall) => Promise<unknown>,
  { factory, gateway, vault }: ContractPlan,
  operatorId: Hex,
): Promise<void> {
  await send(deploymentCall(factory));
  await send(deploymentCall(gateway));
  const places = { gateway: gateway.address, vault: vault.address };
  for (const { to, data } of roleSettings(places, { ...addresses, guardian: operatorId }))
    await send({ to, data });
}
