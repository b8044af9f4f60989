// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IDepositReceiver} from "./interfaces/IDepositReceiver.sol";
import {TokenTransfer} from "./libraries/TokenTransfer.sol";

/// @title What every deposit address runs
/// @dev The gateway creates it once and puts ERC-1167 proxies of it at the deposit addresses. The gateway's address is
/// in its code, so the proxies need no storage and no initialization that a stranger could call first.
contract DepositReceiver is IDepositReceiver {
    address private immutable GATEWAY = msg.sender;

    /// @inheritdoc IDepositReceiver
    function forward(address token, address to, uint256 amount) external {
        if (msg.sender != GATEWAY) revert NotGateway(msg.sender);
        if (token != address(0)) return TokenTransfer.send(token, to, amount);
        bool sent;
        // In assembly, so that a huge answer is not copied.
        assembly ("memory-safe") {
            sent := call(gas(), to, amount, 0, 0, 0, 0)
        }
        if (!sent) revert CoinRefused(to);
    }
}
