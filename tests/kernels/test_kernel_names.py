import pytest

from unflip.kernels import EuclideanLaplace, Gaussian, Laplace, Linear, Polynomial, get


def test_kernels_go_by_their_names():
    assert get("rbf", 2.0) == get("gaussian", bandwidth=2) == Gaussian(2.0)
    assert get("laplace", 2.0) == Laplace(2.0)
    assert get("euclidean_laplace", 2.0) == EuclideanLaplace(2.0)
    assert get("linear") == Linear()
    assert get("poly") == get("polynomial", degree=3, constant=1.0) == Polynomial(3)


def test_a_kernel_is_handed_back():
    kernel = Gaussian(1.0) + Linear()
    assert get(kernel) is kernel


def test_bad_names_and_parameters_are_refused():
    with pytest.raises(
        ValueError, match=r"no kernel is called 'rfb'; choose one of gaussian, rbf, laplace, .*poly"
    ):
        get("rfb", 1.0)
    with pytest.raises(ValueError, match="the kernel 'rbf' needs a bandwidth"):
        get("rbf")
    with pytest.raises(ValueError, match="the kernel 'linear' has no bandwidth"):
        get("linear", 1.0)
    with pytest.raises(
        TypeError, match=r"bandwidth: parameters go with a name, Linear\(\) has its own already"
    ):
        get(Linear(), 1.0)
    with pytest.raises(TypeError, match="a name or an instance of Kernel, got 3"):
        get(3)
