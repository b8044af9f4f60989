import { circleContracts, findKnownChain } from '@florin/protocol/known-chain.ts';
import type { Chain } from '@florin/server/operator';
import { bad, type DoctorFinding, good } from './doctor-finding.ts';

/** Compares a configured chain with what is public about it. No finding for a chain of which we know nothing. */
export function examineCatalogue(
  chain: Pick<Chain, 'name' | 'chainId' | 'tokens' | 'cctp'>,
): DoctorFinding[] {
  const known = findKnownChain(chain.chainId);
  if (known === undefined) return [];
  const what = `${chain.name} catalogue`;
  const problems: string[] = known.unfit === undefined ? [] : [known.unfit];
  for (const { symbol, address, tokenId } of chain.tokens) {
    const issued = known.tokens?.find((each) => each.symbol === symbol && each.isUnverified !== true);
    if (issued !== undefined && issued.address.toLowerCase() !== address.toLowerCase())
      problems.push(`${tokenId} is ${address}, and the issuer's ${symbol} is ${issued.address}`);
  }
  if (chain.cctp !== undefined) {
    const { domain, messenger, transmitter } = chain.cctp;
    const circle = circleContracts[known.isTestnet === true ? 'test' : 'main'];
    const compared = [
      ['domain', domain, known.cctpDomain],
      ['messenger', messenger.toLowerCase(), circle.tokenMessenger.toLowerCase()],
      ['transmitter', transmitter.toLowerCase(), circle.messageTransmitter.toLowerCase()],
    ] as const;
    for (const [name, found, wanted] of compared)
      if (found !== wanted) problems.push(`cctp.${name} is ${found}, and Circle's is ${wanted ?? 'none'}`);
  }
  if (problems.length > 0) return [bad(what, `${problems.join('; ')}: correct the configuration`)];
  return [good(what, 'nothing differs from what issuers and Circle publish')];
}
