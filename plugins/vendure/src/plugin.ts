import { PluginCommonModule, type Type, VendurePlugin } from '@vendure/core';
import { raw } from 'express';
import { FlorinOpening } from './opening';
import { connect, FLORIN, type FlorinPluginOptions } from './options';
import { florinPaymentHandler, florinRefundProcess } from './payment-handler';
import { FlorinRecording } from './recording';
import { FlorinSession } from './session.entity';
import { FlorinShopResolver, shopSchema } from './shop-api';
import { FlorinWebhook, webhookPath } from './webhook';

/**
 * Takes stablecoins in a Vendure shop.
 *
 * @example plugins: [FlorinPlugin.init({ baseUrl, apiKey, webhookKey, orderUrl: (code) => `https://shop.example/orders/${code}` })]
 */
@VendurePlugin({
  imports: [PluginCommonModule],
  entities: [FlorinSession],
  controllers: [FlorinWebhook],
  providers: [
    { provide: FLORIN, useFactory: () => connect(FlorinPlugin.options) },
    FlorinOpening,
    FlorinRecording,
  ],
  shopApiExtensions: { schema: shopSchema, resolvers: [FlorinShopResolver] },
  configuration(config) {
    config.paymentOptions.paymentMethodHandlers.push(florinPaymentHandler);
    config.paymentOptions.refundProcess = [
      ...(config.paymentOptions.refundProcess ?? []),
      florinRefundProcess,
    ];
    // The signature is over the bytes as they came.
    config.apiOptions.middleware.push({
      route: `/${webhookPath}`,
      handler: raw({ type: 'application/json', limit: '1mb' }),
      beforeListen: true,
    });
    return config;
  },
  compatibility: '^3.5.0',
})
// biome-ignore lint/complexity/noStaticOnlyClass: Vendure's plugins are classes with a static init.
export class FlorinPlugin {
  static options: FlorinPluginOptions | undefined;

  static init(options: FlorinPluginOptions): Type<FlorinPlugin> {
    FlorinPlugin.options = options;
    return FlorinPlugin;
  }
}
