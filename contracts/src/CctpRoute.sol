// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICctpRoute} from "./interfaces/ICctpRoute.sol";
import {ICctpRouteInfo} from "./interfaces/ICctpRouteInfo.sol";
import {IERC20} from "./interfaces/IERC20.sol";
import {ITokenMessengerV2} from "./interfaces/ITokenMessengerV2.sol";
import {TokenTransfer} from "./libraries/TokenTransfer.sol";

/// @title Florin's route through Circle's CCTP v2
/// @dev Nothing here can change after construction. A table that a controller could write would let that controller send a paid
/// order's money to a chain on which somebody else holds the recipient's address.
contract CctpRoute is ICctpRoute, ICctpRouteInfo {
    /// @dev Circle attests only burns that are final. Anything less costs a fee, which the recipient would bear.
    uint32 private constant FINALIZED = 2000;
    /// @dev When Circle asks for a fee the burn reverts: the recipient gets the order's net amount or the order waits.
    uint256 private constant MAX_FEE = 0;
    /// @dev Anyone may deliver the message, so that no key of the operator is needed for the merchant's money.
    bytes32 private constant ANY_CALLER = bytes32(0);

    /// @inheritdoc ICctpRouteInfo
    address public immutable gateway;
    /// @inheritdoc ICctpRouteInfo
    address public immutable tokenMessenger;
    /// @dev Domain + 1, so that zero is no domain: Ethereum's is 0.
    mapping(uint64 chain => uint256) private _domains;
    uint256 private transient _entered;

    /// @param tokenMessenger_ Circle's TokenMessengerV2, at the same address on every EVM chain.
    /// @param chains Chain ids (EIP-155).
    /// @param domains Circle's domain of each.
    /// @param gateway_ The gateway whose orders name this route.
    constructor(address tokenMessenger_, uint64[] memory chains, uint32[] memory domains, address gateway_) {
        if (tokenMessenger_ == address(0) || gateway_ == address(0)) revert ZeroValue();
        if (chains.length != domains.length) revert InvalidDomains();
        for (uint256 i = 0; i < chains.length; ++i) {
            if (chains[i] == 0 || _domains[chains[i]] != 0) revert InvalidDomains();
            _domains[chains[i]] = uint256(domains[i]) + 1;
        }
        (tokenMessenger, gateway) = (tokenMessenger_, gateway_);
    }

    /// @inheritdoc ICctpRoute
    function send(bytes32 orderId, address token, uint256 amount, uint64 targetChain, address to) external {
        if (msg.sender != gateway) revert NotGateway(msg.sender);
        if (_entered != 0) revert Reentered();
        if (orderId == 0 || token == address(0) || to == address(0)) revert ZeroValue();
        uint32 domain = domainOf(targetChain);
        _entered = 1;
        emit Burnt(orderId, to, token, amount, targetChain, domain);

        TokenTransfer.pullExact(token, address(this), amount);
        uint256 balanceBefore = TokenTransfer.balanceOf(token, address(this));
        if (!IERC20(token).approve(tokenMessenger, amount)) revert ApprovalFailed(token);
        ITokenMessengerV2(tokenMessenger)
            .depositForBurnWithHook(
                amount,
                domain,
                bytes32(uint256(uint160(to))),
                token,
                ANY_CALLER,
                MAX_FEE,
                FINALIZED,
                abi.encode(orderId)
            );
        uint256 balanceAfter = TokenTransfer.balanceOf(token, address(this));
        uint256 taken = balanceAfter > balanceBefore ? 0 : balanceBefore - balanceAfter;
        if (taken != amount) revert WrongBurn(amount, taken);
        _entered = 0;
    }

    /// @inheritdoc ICctpRouteInfo
    function domainOf(uint64 chain) public view returns (uint32) {
        uint256 domain = _domains[chain];
        if (domain == 0 || chain == block.chainid) revert UnknownChain(chain);
        return uint32(domain - 1);
    }
}
