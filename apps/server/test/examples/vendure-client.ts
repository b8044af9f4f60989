import { until } from './example.ts';

/** A payment as the staff sees it. */
interface VendurePayment {
  readonly id: string;
  readonly state: string;
  readonly amount: number;
  readonly transactionId: string;
  readonly refunds: readonly { readonly state: string; readonly transactionId: string }[];
}

interface VendureOrder {
  readonly state: string;
  readonly payments: readonly VendurePayment[];
}

interface AskedRefund {
  readonly state: string;
  readonly transactionId: string;
  readonly message?: string;
}

/** One person at one of the two APIs of a Vendure server. */
export class VendureClient {
  readonly #address: string;
  #token: string | undefined;

  constructor(url: string, api: 'shop-api' | 'admin-api') {
    this.#address = `${url}/${api}`;
  }

  async ask<Answer>(query: string): Promise<Answer> {
    const authorization = this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` };
    const headers = { 'content-type': 'application/json', ...authorization };
    const body = JSON.stringify({ query });
    const response = await fetch(this.#address, { method: 'POST', headers, body });
    this.#token = response.headers.get('vendure-auth-token') ?? this.#token;
    const { data, errors } = (await response.json()) as { data: Answer; errors?: { message: string }[] };
    if (errors !== undefined) throw new Error(errors.map(({ message }) => message).join('\n'));
    return data;
  }

  async variants(): Promise<{ id: string; sku: string }[]> {
    const { products } = await this.ask<{
      products: { items: { variants: { id: string; sku: string }[] }[] };
    }>('{ products { items { variants { id sku } } } }');
    return products.items.flatMap(({ variants }) => variants);
  }

  /** An order as the staff sees it. */
  async order(orderId: string): Promise<VendureOrder> {
    const { order } = await this.ask<{ order: VendureOrder }>(
      `{ order(id: "${orderId}") { state payments { id state amount transactionId refunds { state transactionId } } } }`,
    );
    return order;
  }

  /** The staff gives cents of an order's payment back. */
  async refund(orderId: string, amount: number): Promise<AskedRefund> {
    const [payment] = (await this.order(orderId)).payments;
    const { refundOrder } = await this.ask<{ refundOrder: AskedRefund }>(
      `mutation { refundOrder(input: { paymentId: "${payment?.id}", amount: ${amount}, reason: "A cup was broken", lines: [], shipping: 0, adjustment: 0 }) {
        ... on Refund { state transactionId } ... on ErrorResult { message } } }`,
    );
    return refundOrder;
  }

  async refundReaches(orderId: string, refundId: string, state: string): Promise<void> {
    await until(
      () => `${refundId} ${state}`,
      async () => {
        const refunds = (await this.order(orderId)).payments.flatMap((payment) => payment.refunds);
        return refunds.some((refund) => refund.transactionId === refundId && refund.state === state);
      },
    );
  }
}

/** A customer's order of one coffee, with everything that Vendure wants before the payment. */
export class VendureCart {
  readonly client: VendureClient;
  readonly #staff: VendureClient;
  readonly id: string;
  readonly code: string;

  private constructor(
    client: VendureClient,
    staff: VendureClient,
    { id, code }: { id: string; code: string },
  ) {
    this.client = client;
    this.#staff = staff;
    this.id = id;
    this.code = code;
  }

  static async open(url: string, staff: VendureClient): Promise<VendureCart> {
    const client = new VendureClient(url, 'shop-api');
    await addCoffee(client);
    await client.ask(
      `mutation { setCustomerForOrder(input: { firstName: "Ada", lastName: "L", emailAddress: "${crypto.randomUUID()}@example.com" }) { __typename } }`,
    );
    await client.ask(
      'mutation { setOrderShippingAddress(input: { streetLine1: "High Street 1", countryCode: "DE" }) { __typename } }',
    );
    const { eligibleShippingMethods } = await client.ask<{ eligibleShippingMethods: { id: string }[] }>(
      '{ eligibleShippingMethods { id } }',
    );
    await client.ask(
      `mutation { setOrderShippingMethod(shippingMethodId: ["${eligibleShippingMethods[0]?.id}"]) { __typename } }`,
    );
    await moveTo(client, 'ArrangingPayment');
    const { activeOrder } = await client.ask<{ activeOrder: { id: string; code: string } }>(
      '{ activeOrder { id code } }',
    );
    return new VendureCart(client, staff, activeOrder);
  }

  async pay(): Promise<{ sessionId: string; paymentUrl: string }> {
    const { createFlorinPayment } = await this.client.ask<{
      createFlorinPayment: { sessionId: string; paymentUrl: string };
    }>('mutation { createFlorinPayment { sessionId paymentUrl } }');
    return createFlorinPayment;
  }

  /** The customer goes back and takes one more; then pays, or not yet. */
  async addAnother({ pays = true } = {}): Promise<void> {
    await moveTo(this.client, 'AddingItems');
    await addCoffee(this.client);
    if (pays) await moveTo(this.client, 'ArrangingPayment');
  }

  /** The staff sees every order; customers only those that are paid. */
  async state(): Promise<string> {
    return (await this.#staff.order(this.id)).state;
  }

  async payments(): Promise<{ state: string; amount: number; transactionId: string }[]> {
    const { payments } = await this.#staff.order(this.id);
    return payments.map(({ state, amount, transactionId }) => ({ state, amount, transactionId }));
  }

  async reaches(state: string): Promise<void> {
    await until(
      () => `${this.code} ${state}`,
      async () => (await this.state()) === state,
    );
  }
}

async function addCoffee(client: VendureClient): Promise<void> {
  const coffee = (await client.variants()).find(({ sku }) => sku === 'coffee');
  await client.ask(
    `mutation { addItemToOrder(productVariantId: "${coffee?.id}", quantity: 1) { __typename } }`,
  );
}

async function moveTo(client: VendureClient, state: string): Promise<void> {
  const { transitionOrderToState: moved } = await client.ask<{ transitionOrderToState: object }>(
    `mutation { transitionOrderToState(state: "${state}") {
      ... on Order { state } ... on OrderStateTransitionError { transitionError } } }`,
  );
  if (!('state' in moved)) throw new Error(JSON.stringify(moved));
}
