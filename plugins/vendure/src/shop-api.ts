import { Mutation, Resolver } from '@nestjs/graphql';
import {
  ActiveOrderService,
  Allow,
  Ctx,
  Permission,
  type RequestContext,
  UserInputError,
} from '@vendure/core';
import { parse } from 'graphql';
import { FlorinOpening, type OpenedSession } from './opening';

export const shopSchema = parse(`
  "A session at Florin that pays the rest of the active order"
  type FlorinPayment {
    sessionId: String!
    "Send the customer there"
    paymentUrl: String!
  }
  extend type Mutation {
    "Opens the payment of the active order, which must be in the state ArrangingPayment. A repetition answers the same one."
    createFlorinPayment: FlorinPayment!
  }
`);

@Resolver()
export class FlorinShopResolver {
  constructor(
    private activeOrders: ActiveOrderService,
    private opening: FlorinOpening,
  ) {}

  @Mutation()
  @Allow(Permission.UpdateOrder, Permission.Owner)
  async createFlorinPayment(@Ctx() ctx: RequestContext): Promise<OpenedSession> {
    const order = ctx.authorizedAsOwnerOnly
      ? await this.activeOrders.getActiveOrder(ctx, undefined)
      : undefined;
    if (order === undefined) throw new UserInputError('there is no active order');
    return this.opening.open(ctx, order);
  }
}
