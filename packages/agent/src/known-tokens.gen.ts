// Written by scripts/generate-tokens.ts.
export const generatedTokens = [
  { chainId: 8453, address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', decimals: 6 }, // USDC
  { chainId: 42161, address: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831', decimals: 6 }, // USDC
  { chainId: 10, address: '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', decimals: 6 }, // USDC
  { chainId: 137, address: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', decimals: 6 }, // USDC
  { chainId: 43114, address: '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', decimals: 6 }, // USDC
  { chainId: 1, address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', decimals: 6 }, // USDC
  { chainId: 1, address: '0xdAC17F958D2ee523a2206206994597C13D831ec7', decimals: 6 }, // USDT
  { chainId: 130, address: '0x078D782b760474a361dDA0AF3839290b0EF57AD6', decimals: 6 }, // USDC
  { chainId: 59144, address: '0x176211869cA2b568f2A7D4EE941E073a821EE1ff', decimals: 6 }, // USDC
  { chainId: 480, address: '0x79A02482A880bCE3F13e09Da970dC34db4CD24d1', decimals: 6 }, // USDC
];
