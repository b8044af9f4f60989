import { type DeepPartial, EntityId, type ID, VendureEntity } from '@vendure/core';
import { Column, Entity, Index } from 'typeorm';

/** `open`: may be paid. `paid`: its payment is recorded, once. `closed`: it ended without a payment. */
export type FlorinSessionStatus = 'open' | 'paid' | 'closed';

/** A session that was opened at Florin for an order. */
@Entity()
export class FlorinSession extends VendureEntity {
  constructor(input?: DeepPartial<FlorinSession>) {
    super(input);
  }

  @Column({ unique: true })
  sessionId: string;

  @Index()
  @EntityId()
  orderId: ID;

  @EntityId()
  channelId: ID;

  /** The code of the payment method of the shop. */
  @Column()
  methodCode: string;

  /** In the smallest unit of the order's currency, as the shop stores money. */
  @Column()
  amount: number;

  @Column('varchar')
  status: FlorinSessionStatus;
}
