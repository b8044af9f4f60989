import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { CliOutside } from './command.ts';
import { CommandError } from './command-error.ts';

type Environment = CliOutside['environment'];

/** What is kept between commands: objects of texts, by name. */
export type State = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Where a file is kept: in the folder for configuration of this person (XDG Base Directory). */
export function statePath(environment: Environment, name: string): string {
  const given = environment['XDG_CONFIG_HOME'];
  // The standard ignores a relative one.
  const base = given !== undefined && isAbsolute(given) ? given : join(homeOf(environment), '.config');
  return join(base, 'florin', name);
}

function homeOf(environment: Environment): string {
  const given = environment['HOME'];
  return given === undefined || given === '' ? homedir() : given;
}

/** Reads a kept file; empty where there is none. Refuses a file that others can read, and one that is no JSON object. */
export function readState(environment: Environment, name: string): State {
  const path = statePath(environment, name);
  let text: string;
  try {
    // Windows has no such modes: there the folder of a person is private.
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
      throw new CommandError(`${path} holds secrets and others can read it: run chmod 600 ${path}`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
  return stateOf(text) ?? damaged(path);
}

function stateOf(text: string): State | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as State)
      : undefined;
  } catch {
    // Not JSON: the caller names the file.
    return undefined;
  }
}

function damaged(path: string): never {
  throw new CommandError(`${path} is damaged: remove it, and run florin login again`);
}

/** Replaces a kept file at once, readable by this person alone. */
export function writeState(environment: Environment, name: string, state: State): void {
  const path = statePath(environment, name);
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 });
  // A file that was left behind keeps its old mode.
  chmodSync(next, 0o600);
  renameSync(next, path);
}
