import { FlorinPlugin } from '@florin/vendure';
import { DefaultLogger, LogLevel } from '@vendure/core';

const { DATABASE_URL, FLORIN_KEY, FLORIN_URL, FLORIN_WEBHOOK_KEY } = process.env;
const { SHOP_URL = 'http://127.0.0.1:3000', STAFF_PASSWORD = 'superadmin' } = process.env;
const { hostname, port } = new URL(SHOP_URL);

export const config = {
  apiOptions: { hostname, port: Number(port), adminApiPath: 'admin-api', shopApiPath: 'shop-api' },
  authOptions: {
    tokenMethod: 'bearer',
    superadminCredentials: { identifier: 'superadmin', password: STAFF_PASSWORD },
  },
  dbConnectionOptions: {
    ...(DATABASE_URL === undefined
      ? { type: 'sqljs', location: 'shop.sqlite', autoSave: true }
      : { type: 'postgres', url: DATABASE_URL }),
    // A shop of its own runs migrations; the plugin adds the table florin_session.
    synchronize: true,
  },
  paymentOptions: { paymentMethodHandlers: [] },
  logger: new DefaultLogger({ level: LogLevel.Warn }),
  plugins: [
    FlorinPlugin.init({
      baseUrl: FLORIN_URL,
      apiKey: FLORIN_KEY,
      webhookKey: FLORIN_WEBHOOK_KEY,
      orderUrl: (code) => `${SHOP_URL}/orders/${code}`,
    }),
  ],
};
