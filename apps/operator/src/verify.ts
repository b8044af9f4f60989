import { CommandError } from '@florin/cli';
import type { Clock } from '@florin/server/operator';
import type { DeploymentRecord } from './deployment-record.ts';

/** The kinds of services that compare published sources with the code of a chain. */
export const verifiers = ['etherscan', 'blockscout', 'sourcify'] as const;
type Verifier = (typeof verifiers)[number];

export interface VerifyOptions {
  readonly verifier: Verifier;
  /** The address of the API, such as `https://api.etherscan.io/v2/api`, or of the explorer for Blockscout. */
  readonly url: string;
  /** Etherscan's key. */
  readonly apiKey: string | undefined;
  readonly record: DeploymentRecord;
  /** The compiler's standard-JSON input. */
  readonly sources: object;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: (sentence: string) => void;
}

/** A contract as a verifier is asked about it. */
type Contract = DeploymentRecord['contracts'][string];

/** What a verifier says: verified, still at work, or why not. */
type Verdict = 'verified' | 'pending' | { readonly refused: string };

interface Service {
  /** Sends the sources; returns how to ask for the verdict, or the verdict. */
  submit(contract: Contract): Promise<Verdict | (() => Promise<Verdict>)>;
}

const mostQuestions = 60;
const questionIntervalMs = 5_000;
const answerTimeoutMs = 60_000;
const mostShown = 300;

/**
 * Gives the sources of each recorded contract to a verifier and waits for its verdict. Contracts that it knows already count as
 * verified. Throws a CommandError for a refusal, a silence of five minutes, or an answer that is none of the service's.
 */
export async function verifyDeployment(options: VerifyOptions): Promise<readonly string[]> {
  const service = services[options.verifier](options);
  const verified: string[] = [];
  for (const [name, contract] of Object.entries(options.record.contracts)) {
    let answer = await service.submit(contract);
    for (let asked = 0; asked < mostQuestions; asked += 1) {
      if (typeof answer !== 'function') break;
      await options.clock.sleep(questionIntervalMs);
      const verdict = await answer();
      if (verdict !== 'pending') answer = verdict;
    }
    if (typeof answer === 'object')
      throw new CommandError(`${options.url} refuses ${name} at ${contract.address}: ${answer.refused}`);
    if (answer !== 'verified')
      throw new CommandError(`${options.url} has no verdict on ${name} yet: run the command again later`);
    options.log(`${name} at ${contract.address} is verified`);
    verified.push(name);
  }
  return verified;
}

const services: Readonly<Record<Verifier, (options: VerifyOptions) => Service>> = {
  etherscan: openEtherscan,
  blockscout: openBlockscout,
  sourcify: openSourcify,
};

/** Etherscan's API v2 (docs.etherscan.io/contract-verification/verify-with-api), which other explorers copy. */
function openEtherscan({ url, apiKey, record, sources }: VerifyOptions): Service {
  if (apiKey === undefined) throw new CommandError('Etherscan needs a key: give --api-key-file');
  const query = (fields: Readonly<Record<string, string>>) =>
    new URLSearchParams({ chainid: record.chainId, module: 'contract', apikey: apiKey, ...fields });
  const ask = async (guid: string): Promise<Verdict> => {
    const answer = await readJson(`${url}?${query({ action: 'checkverifystatus', guid })}`, url);
    const text = String(answer['result']);
    if (/^pass/i.test(text) || isKnown(text)) return 'verified';
    return /pending|progress/i.test(text) ? 'pending' : { refused: text };
  };
  return {
    async submit({ address, constructorArguments, source }) {
      const encoded = constructorArguments.slice(2);
      const body = query({
        ...{ action: 'verifysourcecode', contractaddress: address, sourceCode: JSON.stringify(sources) },
        ...{ codeformat: 'solidity-standard-json-input', contractname: source },
        compilerversion: `v${record.compilerVersion}`,
        // Older copies of the API know the name only with its first misspelling.
        ...{ constructorArguments: encoded, constructorArguements: encoded },
      });
      const to = `${url}?${new URLSearchParams({ chainid: record.chainId })}`;
      const answer = await readJson(to, url, { method: 'POST', body });
      const text = String(answer['result']);
      if (isKnown(text)) return 'verified';
      return answer['status'] === '1' ? () => ask(text) : { refused: text };
    },
  };
}

/** Blockscout's API v2 (docs.blockscout.com/devs/verification/blockscout-smart-contract-verification-api). */
function openBlockscout({ url, record, sources }: VerifyOptions): Service {
  return {
    async submit({ address, constructorArguments, source }) {
      const place = `${url}/api/v2/smart-contracts/${address}`;
      const ask = async (): Promise<Verdict> => {
        const answer = await readJson(place, url, {}, [404]);
        return answer['is_verified'] === true ? 'verified' : 'pending';
      };
      if ((await ask()) === 'verified') return 'verified';
      const body = new FormData();
      body.set('compiler_version', `v${record.compilerVersion}`);
      body.set('contract_name', source);
      body.set('autodetect_constructor_args', 'false');
      body.set('constructor_args', constructorArguments);
      body.set('license_type', 'mit');
      body.set('files[0]', new Blob([JSON.stringify(sources)], { type: 'application/json' }), 'sources.json');
      await readJson(`${place}/verification/via/standard-input`, url, { method: 'POST', body });
      return ask;
    },
  };
}

/** Sourcify's API v2 (docs.sourcify.dev). */
function openSourcify({ url, record, sources }: VerifyOptions): Service {
  const ask = async (id: string): Promise<Verdict> => {
    const answer = await readJson(`${url}/v2/verify/${encodeURIComponent(id)}`, url);
    if (answer['isJobCompleted'] !== true) return 'pending';
    const contract = answer['contract'] as { match?: string | null } | undefined;
    if (typeof contract?.match === 'string') return 'verified';
    const error = answer['error'] as { message?: string } | undefined;
    return { refused: error?.message ?? 'the code does not match' };
  };
  return {
    async submit({ address, source }) {
      const content = {
        ...{ stdJsonInput: sources, compilerVersion: record.compilerVersion },
        contractIdentifier: source,
      };
      const body = JSON.stringify(content);
      const headers = { 'content-type': 'application/json' };
      const to = `${url}/v2/verify/${record.chainId}/${address}`;
      const answer = await readJson(to, url, { method: 'POST', headers, body }, [409]);
      if (answer['customCode'] === 'already_verified') return 'verified';
      const id = answer['verificationId'];
      return typeof id === 'string' ? () => ask(id) : { refused: String(answer['message'] ?? 'no answer') };
    },
  };
}

function isKnown(text: string): boolean {
  return /already verified/i.test(text);
}

/** A JSON object. Throws a CommandError that names the service and not the request, which may hold a key. */
async function readJson(
  place: string,
  service: string,
  request: RequestInit = {},
  accepted: readonly number[] = [],
): Promise<Record<string, unknown>> {
  let status: number;
  let text: string;
  try {
    const response = await fetch(place, { ...request, signal: AbortSignal.timeout(answerTimeoutMs) });
    ({ status } = response);
    text = await response.text();
  } catch {
    throw new CommandError(`${service} does not answer: correct --url, or try again later`);
  }
  if (status >= 300 && !accepted.includes(status))
    throw new CommandError(`${service} answers ${status}: ${text.slice(0, mostShown)}`);
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new CommandError(`${service} answers no JSON: correct --url`);
  }
}
