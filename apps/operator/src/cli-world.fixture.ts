import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CliResult } from '@florin/cli';
import { type Chain, systemClock, systemRandom } from '@florin/server/operator';
import { keys, LifeChain, type TestDatabase, testDatabase } from '@florin/server/testing';
import { runCli } from './cli.ts';

export const origin = 'http://127.0.0.1:4000';

/** A database, a chain and a configuration of both, with the command line. */
export class CliWorld {
  readonly database: TestDatabase;
  readonly life: LifeChain;
  readonly folder = mkdtempSync(join(tmpdir(), 'florin-cli-test-'));

  private constructor(database: TestDatabase, life: LifeChain) {
    this.database = database;
    this.life = life;
    this.writeConfig('florin.json');
  }

  static async open(): Promise<CliWorld> {
    const chain = { name: 'ethereum', chainId: 31_337 };
    return new CliWorld(
      await testDatabase(),
      await LifeChain.start({ ...chain, tokens: [{ symbol: 'usdc', decimals: 6 }] }),
    );
  }

  async close(): Promise<void> {
    await this.life.anvil.close();
    await this.database.close();
    rmSync(this.folder, { recursive: true });
  }

  /** Writes a configuration with some changed fields; returns its path. */
  writeConfig(name: string, change: object = {}): string {
    const { tokens, startBlock, chainId, ...chain }: Chain = this.life.chain;
    const config = {
      environment: 'local',
      origin,
      serviceDomain: 'localhost',
      databaseUrl: this.database.url,
      chains: [
        {
          ...chain,
          chainId: String(chainId),
          startBlock: String(startBlock),
          tokens: tokens.map(({ tokenId, address, name, symbol, decimals }) => ({
            tokenId,
            address,
            name,
            symbol,
            decimals,
          })),
        },
      ],
      signer: { orderKey: keys.orderSigner, settlerKey: keys.settler },
      masterKey: '00'.repeat(32),
      ...change,
    };
    const path = join(this.folder, name);
    writeFileSync(path, JSON.stringify(config));
    return path;
  }

  run(
    commandLine: string,
    more: readonly string[] = [],
    config = join(this.folder, 'florin.json'),
  ): Promise<CliResult> {
    return runCli([...commandLine.split(' '), ...more], {
      environment: { FLORIN_CONFIG: config },
      clock: systemClock,
      random: systemRandom,
      tell: () => {},
      folder: this.folder,
    });
  }

  /** Runs a command that must succeed and returns its JSON. */
  async json(
    commandLine: string,
    more: readonly string[] = [],
    config?: string,
  ): Promise<Record<string, unknown>> {
    const result = await this.run(`${commandLine} --json`, more, config);
    assert.deepEqual({ ...result, stdout: '' }, { exitCode: 0, stdout: '', stderr: '' });
    return JSON.parse(result.stdout) as Record<string, unknown>;
  }

  async newMerchant(): Promise<string> {
    const { merchantId } = await this.json('merchant create', ['--name', 'Tea House']);
    return String(merchantId);
  }
}

export function failure(exitCode: 1 | 2, stderr: string): CliResult {
  return { exitCode, stdout: '', stderr: `${stderr}\n` };
}
