# backend/packaging: a wheel, a Debian package, a pkg-config file.
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = %D%/shunt.pc
EXTRA_DIST += %D%/METADATA.in

# The wheel is what `make install-strip` installs, and a few lines of Python.
WHEEL_ROOT = $(abs_builddir)/wheel.root
wheel: all
	rm -rf $(WHEEL_ROOT) shunt-*.whl
	$(MAKE) install-strip DESTDIR=$(WHEEL_ROOT) >/dev/null
	python3 $(srcdir)/%D%/wheel.py --version=$(PACKAGE_VERSION) \
	  --bindir=$(WHEEL_ROOT)$(bindir) --libdir=$(WHEEL_ROOT)$(libdir) \
	  --pkglibdir=$(WHEEL_ROOT)$(pkglibdir) --includedir=$(WHEEL_ROOT)$(includedir) \
	  --mandir=$(WHEEL_ROOT)$(mandir) --gomp="$$($(CC) -print-file-name=libgomp.so.1)"
	rm -rf $(WHEEL_ROOT)

# Installs the wheel where there is nothing else.
check-packages: wheel
	$(SHELL) $(srcdir)/tests/packaging/wheel.sh shunt-$(PACKAGE_VERSION)-*.whl
.PHONY: wheel check-packages
