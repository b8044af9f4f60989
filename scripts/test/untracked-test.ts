import asyncHooks, { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

/**
 * Node's test runner hooks into every promise, timer and socket to learn which test it belongs to. That costs a fifth of the
 * processor time of stories. An `AsyncLocalStorage` says the same for almost nothing, so this module hands the runner one
 * while it loads. `untracked-test.test.ts` proves that tests still find their suites, and uncaught errors their tests.
 */
interface Hook {
  readonly init: (asyncId: number, type: string, triggerAsyncId: number, resource: object) => void;
}
let register: Hook['init'] | undefined;
const current = new AsyncLocalStorage<number>();

function createHook(hook: Hook): { enable(): void; disable(): void } {
  register = hook.init;
  return { enable: () => undefined, disable: () => undefined };
}

const original = { createHook: asyncHooks.createHook, executionAsyncId: asyncHooks.executionAsyncId };
Object.assign(asyncHooks, { createHook, executionAsyncId: () => current.getStore() });
/** Of `node:test`, which takes the functions above while it is loaded. */
export const { describe } = await import('node:test');
Object.assign(asyncHooks, original);

const { runInAsyncScope } = AsyncResource.prototype;
/** The runner runs its suites, tests and hooks in this way. Only they have a nesting. */
AsyncResource.prototype.runInAsyncScope = function runInTest<This, Result>(
  this: AsyncResource,
  call: (this: This, ...args: unknown[]) => Result,
  ...args: unknown[]
): Result {
  if (!('nesting' in this)) return Reflect.apply(runInAsyncScope, this, [call, ...args]);
  const id = this.asyncId();
  register?.(id, 'Test', 0, this);
  function callInTest(this: This, ...given: unknown[]): Result {
    return current.run(id, () => Reflect.apply(call, this, given));
  }
  return Reflect.apply(runInAsyncScope, this, [callInTest, ...args]);
};
