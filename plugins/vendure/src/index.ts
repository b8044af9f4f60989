export type { FlorinPluginOptions } from './options';
export { florinPaymentHandler } from './payment-handler';
export { FlorinPlugin } from './plugin';
export { FlorinSession } from './session.entity';
