import { idText } from './argument.ts';
import type { CallOptions, Send } from './client.ts';
import { FlorinError } from './error.ts';
import { errorCodes, type Product } from './wire.gen.ts';

/** The API reads products as a list, which leaves out what is not there: its own error is thrown for that. */
export async function retrieveProduct(
  send: Send,
  productId: string,
  options?: CallOptions,
): Promise<Product> {
  const productIds = [idText('productId', productId)];
  const [found] = await send('listProductsByIds', { body: { productIds } }, options);
  if (found !== undefined) return found;
  const code = errorCodes.product_not_found;
  throw new FlorinError('product_not_found', `Product not found: ${productId} (${code})`, {
    code,
    remedy: 'Check the ids.',
    docUrl: `${send.api.replace(/\/payment\/v1$/, '')}/docs/errors/${code}`,
  });
}
