import Florin from '@florin/sdk';

export interface FlorinPluginOptions {
  /** The address of the installation, such as `https://pay.example.com`. */
  readonly baseUrl: string;
  /** Sends the API key over plain http to another machine too, where a private network is trusted. */
  readonly allowInsecureHttp?: boolean;
  /** An API key with `checkout_sessions:write`, `sessions:read`, `refunds:write` and `accounts:read`. */
  readonly apiKey: string;
  /** The key of the webhook whose address is `{your server}/payments/florin`; several while one is being replaced. */
  readonly webhookKey: string | readonly string[];
  /** The page of an order in the storefront, where payers return to. */
  readonly orderUrl: (orderCode: string) => string;
}

/** What the parts of the plugin share: the options and a client made from them. */
export interface FlorinConnection {
  readonly options: FlorinPluginOptions;
  readonly client: Florin;
}

/** The injection token of {@link FlorinConnection}. */
export const FLORIN = Symbol('florin');

export function connect(options: FlorinPluginOptions | undefined): FlorinConnection {
  if (options === undefined)
    throw new Error('put FlorinPlugin.init({ … }) among the plugins, not FlorinPlugin');
  const { baseUrl, apiKey, allowInsecureHttp } = options;
  return { options, client: new Florin(apiKey, { baseUrl, allowInsecureHttp }) };
}
