import { readFileSync } from 'node:fs';
import { ConfigError } from './setting.ts';
import type { Settings } from './settings.ts';

/** Reads the module, which only processes that serve pages need. */
export function walletConnectModule(
  config: Settings['walletConnect'],
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
