import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { ConfigError, type Fields } from './field.ts';

export interface WalletConnectConfig {
  readonly projectId: string;
  /** Path of the module that the operator built of `@walletconnect/ethereum-provider`. */
  readonly script: string;
}

export function walletConnectOf(fields: Fields): WalletConnectConfig {
  const projectId = fields.text('projectId');
  if (!/^[0-9a-f]{32}$/.test(projectId))
    throw new ConfigError(
      `${fields.path('projectId')} is ${projectId}: give the 32 hexadecimal digits of your project`,
    );
  const script = fields.text('script');
  if (!isAbsolute(script))
    throw new ConfigError(`${fields.path('script')} is ${script}: give an absolute path`);
  return { projectId, script };
}

/** Reads the module, which only processes that serve pages need. */
export function walletConnectModule(
  config: WalletConnectConfig | undefined,
): { readonly projectId: string; readonly module: string } | undefined {
  if (config === undefined) return undefined;
  const { projectId, script } = config;
  let module: string;
  try {
    module = readFileSync(script, 'utf8');
  } catch (error) {
    throw new ConfigError(
      `walletConnect.script is ${script}, which cannot be read: build it as the production runbook says (${(error as Error).message})`,
    );
  }
  if (!/\bexport\s*\{[^}]*\bEthereumProvider\b/.test(module))
    throw new ConfigError(
      `walletConnect.script is ${script}, which exports no EthereumProvider: build it as the production runbook says`,
    );
  return { projectId, module };
}
