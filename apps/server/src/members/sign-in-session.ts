import type { Proof } from './proof.ts';

/** A person's session. */
export interface SignedIn {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly sessionId: string;
  readonly proof: Proof;
  /** When the person last proved who they are. */
  readonly provenAt: Date;
  /** Whether the person signed in on this device for the first time. */
  readonly isNewDevice: boolean;
}

/** Signs people in and out. */
export interface SignIn {
  /** Answers a request to a path of the library, such as `/sign-in/email`. The caller decides which paths are open. */
  handle(path: string, request: RequestInit): Promise<Response>;
  /** The same without the lockout of the second factor, for a device whose codes the caller limits by an allowance of its own. */
  handleOnKnownDevice(path: string, request: RequestInit): Promise<Response>;
  /** The session of a request's cookie; undefined without a valid one. */
  findSession(headers: Headers): Promise<SignedIn | undefined>;
  /**
   * The device of a request's cookie, if the person with this e-mail address has signed in with it before. Undefined without
   * one, whether or not there is such a person.
   */
  findDevice(headers: Headers, email: string): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Carries the client's address, resolved through the configured proxies, to the library. */
export const clientAddressHeader = 'florin-client-address';

/**
 * A sign-in that is opened by its first use: loading the library takes half a second, which no start and no other request
 * waits for.
 */
export function lazySignIn(open: () => Promise<SignIn>): SignIn {
  let opened: Promise<SignIn> | undefined;
  const ready = () => {
    opened ??= open();
    return opened;
  };
  return {
    handle: async (path, request) => (await ready()).handle(path, request),
    handleOnKnownDevice: async (path, request) => (await ready()).handleOnKnownDevice(path, request),
    findSession: async (headers) => (await ready()).findSession(headers),
    findDevice: async (headers, email) => (await ready()).findDevice(headers, email),
    close: async () => (await opened)?.close(),
  };
}
