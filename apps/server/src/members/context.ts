import type { Transaction } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';

/** Who acts, and from where. */
export interface Actor {
  readonly kind: 'member' | 'staff' | 'operator';
  /** The person's id; empty for the operator. */
  readonly id: string;
  readonly name: string;
  /** Empty for the operator's command line, like the two below. */
  readonly clientAddress: string;
  readonly userAgent: string;
  readonly requestId: string;
}

/** What was done to which object. `before` and `after` are JSON as the API shows the object, without secrets. */
export interface Act {
  /** The operation's name in the route table, such as `createProduct`. */
  readonly action: string;
  /** The object's id; empty for the merchant itself. */
  readonly subject: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** An act about a person, such as a new passkey. */
export interface PersonalAct {
  readonly userId: string;
  readonly actor: Actor;
  readonly act: Act;
}

/** Tells a person of an act about them, in the act's transaction. */
export type TellPerson = (
  transaction: Transaction,
  told: PersonalAct & { readonly at: Date },
) => Promise<void>;

/** Whom an e-mail about an act names: a person, or an API key, whose acts the audit log does not have. */
export type NamedActor = Pick<Actor, 'id' | 'name' | 'clientAddress' | 'userAgent'> & {
  readonly kind: Actor['kind'] | 'key';
};

/** Tells a merchant's owners and admins of an act, in the act's transaction, if it is on who and what may act for the merchant. */
export type TellOwners = (
  transaction: Transaction,
  told: { readonly merchantId: string; readonly actor: NamedActor; readonly act: Act; readonly at: Date },
) => Promise<void>;

/**
 * Sends the link of an invitation to the address that the inviter gave, in the invitation's transaction. False: the merchant
 * has sent too many within a day.
 */
export type TellInvited = (
  transaction: Transaction,
  told: {
    readonly invitationId: string;
    /** Undefined: staff of the operator. */
    readonly merchantId: string | undefined;
    readonly email: string;
    readonly role: string;
    /** The inviting member's id; empty for the operator. */
    readonly invitedBy: string;
    readonly url: string;
    readonly expiresAt: Date;
    readonly at: Date;
  },
) => Promise<boolean>;

/** This room's dependencies on the process that it runs in. */
export interface MemberContext {
  readonly clock: Clock;
  readonly random: Random;
  /** Absent where no e-mail is configured. */
  readonly tellPerson?: TellPerson | undefined;
  readonly tellInvited?: TellInvited | undefined;
  readonly tellOwners?: TellOwners | undefined;
}
