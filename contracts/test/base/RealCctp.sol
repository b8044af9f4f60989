// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Test} from "./Test.sol";

/// @notice Initializers and owner's functions of Circle's contracts.
interface ICircle {
    struct Roles {
        address owner;
        address rescuer;
        address feeRecipient;
        address denylister;
        address tokenMinter;
        address minFeeController;
    }

    function initialize(
        address owner,
        address pauser,
        address rescuer,
        address attesterManager,
        address[] calldata attesters,
        uint256 signatureThreshold,
        uint256 maxMessageBodySize
    ) external;
    function initialize(
        Roles calldata roles,
        uint256 minFee,
        uint32[] calldata remoteDomains,
        bytes32[] calldata remoteTokenMessengers
    ) external;
    function addRemoteTokenMessenger(uint32 domain, bytes32 tokenMessenger) external;
    function addLocalTokenMessenger(address tokenMessenger) external;
    function setMaxBurnAmountPerMessage(address token, uint256 limit) external;
    function linkTokenPair(address localToken, uint32 remoteDomain, bytes32 remoteToken) external;
    function setMinFee(uint256 minFee) external;
    function receiveMessage(bytes calldata message, bytes calldata attestation) external returns (bool);
    function usedNonces(bytes32 nonce) external view returns (uint256);
}

/// @notice Circle's own CCTP v2 behind its proxies (`test/fixtures/README.md`), as Circle sets it up.
abstract contract RealCctp is Test {
    uint256 private constant MAX_BODY = 8192;
    uint32 private constant VERSION = 1;

    struct Circle {
        ICircle messenger;
        ICircle transmitter;
        ICircle minter;
    }

    /// @notice One chain's contracts, all of whose roles are `owner`'s.
    function deployCircle(uint32 domain, address owner, address attester) internal returns (Circle memory circle) {
        address[] memory attesters = new address[](1);
        attesters[0] = attester;
        circle.transmitter = ICircle(
            _proxy(
                _create("MessageTransmitterV2", abi.encode(domain, VERSION)),
                abi.encodeWithSignature(
                    "initialize(address,address,address,address,address[],uint256,uint256)",
                    owner,
                    owner,
                    owner,
                    owner,
                    attesters,
                    1,
                    MAX_BODY
                )
            )
        );
        vm.prank(owner);
        circle.minter = ICircle(_create("TokenMinterV2", abi.encode(owner)));
        ICircle.Roles memory roles = ICircle.Roles(owner, owner, owner, owner, address(circle.minter), owner);
        circle.messenger = ICircle(
            _proxy(
                _create("TokenMessengerV2", abi.encode(address(circle.transmitter), VERSION)),
                abi.encodeWithSignature(
                    "initialize((address,address,address,address,address,address),uint256,uint32[],bytes32[])",
                    roles,
                    0,
                    new uint32[](0),
                    new bytes32[](0)
                )
            )
        );
        vm.prank(owner);
        circle.minter.addLocalTokenMessenger(address(circle.messenger));
    }

    function _proxy(address implementation, bytes memory initialization) private returns (address) {
        return _create("AdminUpgradableProxy", abi.encode(implementation, address(0xad), initialization));
    }

    function _create(string memory name, bytes memory arguments) private returns (address deployed) {
        string memory json = vm.readFile(string.concat("test/fixtures/", name, ".json"));
        bytes memory code = bytes.concat(vm.parseJsonBytes(json, ".bytecode"), arguments);
        assembly ("memory-safe") {
            deployed := create(0, add(code, 0x20), mload(code))
        }
        vm.assertEq(deployed != address(0), true, name);
    }
}
